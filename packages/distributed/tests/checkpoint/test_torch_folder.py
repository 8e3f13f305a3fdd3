"""A folder that torch 2.13 wrote, and bad ones."""

from __future__ import annotations

import base64
import json
import zlib

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda.distributed.checkpoint import CheckpointException
from taeda.distributed.checkpoint.format_utils import dcp_to_torch_save
from taeda.distributed.tensor import Shard, distribute_tensor

TORCH = json.loads(
    zlib.decompress(
        base64.b85decode(
            """
c-rk-Ta%(#68<Y2{n{Jbh}vCl#5^4Cpa+Zl<z)h)3Pcd6v_#q1|Gvq=yVR65ZBNW>G#z#$2a-
H_GQa%tr2U^yzy3=7O8qOEE?42=)4%`m$>NtBgAig-jNUjj#K_2Vl{64D+BXI>&()LBoOzk>KFh^S;AD&QPk~sY3|~RE#IhYaGi9
L`#AxuBz>H8?pTzQ8FBD2dBT?9Tbh3zYYdy;Sb(nXONEpz*t5ktAc-
3d}772^%cYpAMZDz!j)9$yymP55#h$osFC9Y3o_AMou0;wgFgt=M-
uAhyz{VEa%ThECymll?R6TMCx`!xa^;gb1oJ)NweRiV~3{t|ViMYCM;jk@ya@l;n@=|`dsHr2Cm=Ck9w=y&qTH;YKpmwsbg;qeLk
4AIxSO<(kY9<>vFyM7kV)y0JFi&{EE_tX`a3(zN&DZf9rHR6&)tsCOv32~=!@$l-40_7Ql3Vd|oIh(~(E>N|vx^y-
Je|`Nve=SO!&dM>T(PPf*s#QqC_bsmYQsq#IIjgT$xTmJGj%s?Fv1!#Gio~FzudzZEwbDbhi@|2Dr}JAy3u{Ya6j@E&w>#5`AL&U
X@~@$|TEcsnov7owj-
J<D88c`vjR~)$+4c2zV!c&1H|T~>v*v5u#N*{bUCN%T)TFB<K5akO>*Le?mGAVaR{63u=xt^qnQ`32(B)yp{F!`jo>9It*!rTqZI
!8tPkzTb>I{B<d2}vhM!CHW>1;j8+SZJ<CKVfzHD%+*C$GS?e*GCvHTd0CvoOz+iI{zb?{#cF2aXQ0;EAJCAKy}^(!}GbcQ~7sd)
simgK9Na#m#z8%Y!R1yVw#MJgDV)&GU~jyMOMz`~Y_wr#5Qhu3rZ9M%3b73qJe?N-
mjEM)2r`3J0^JpWlL?AyVTr8|L6gE3n)1VSNBcaeN0HO$CBStIuD;xUnm9BOV2a3(xQ<?CKCp!rZq9^*YZdc_*99b-+-
37YtQXo#^`5jW%CDhMhX%9!@#M^vTsTu;~n99`sw@731Nv3|yU>h&ItTF}ta#c?W;KLElHjQK$Nz@{s;Lc*t@6@sMElC05)J7gCJ
2=U7Vcc^%UBHgJHGxC{7RW65CQ11}kUr@vxO?qe>d)HJ3cA9d9fzNdJDISuj=>Z&H>BM#H58TYV>DV%zJmBe7u3!k3+BW~3($nV1
MIKSTp(xczxB4N+W+KyIk+M46o3!aDEYrM431zujqdMg&A3tk5CczLM&rR;Xj*sl8pkAfJw#(L&FKcDctR-HM0o=5hH&X3nRd*?E
bT&#7?o+N3W8$@8S^T|svHR|`>%9|h-
L}pr^_&8pjNsC)@ld|I+aC}C4)oLH}q$VRT`IG9V$yE&=)bhmU`F$?CB|m^S#qGQZ@L}AB4>3|kXxb-
u6v(5gSswlT20U^R=bhUyA8aR%K)GjJS-
t~~78`;`mt5`!JQ8Eny@h{)jjFp~XzDe5_mUgl!YMTL<t;7;`hB}A#={5lF%^lMjOcsGHE+<DE772pC)V|xcF%gQs91v8=>=BY5*
Iy$<D0pss7-s{=dUT+j!gtP$AdZu@=@i%ce%nQq97lYkf$oBjkap4b>KQZHp7m}B_syz;e!=zkGR#!-
^D50n>`%&GMKj<zm=P|;^igJ6Ur+i+UGg0HP%~YU-B~X3QjovQuZ61u~q&hkK(l!tk=+6Jg-
&eWgX64*@JT~Wd44gC>U!&3Xiof_~dmRC!?Er6RB&w<%y4TqqBK?ExCy`57qR(&S`v1WXSy35p!DIkl3=sy*wsvp5N!PAGK$vSD*
X2PyPf=trVN<XY(^hM3y(#N~7}qT50$ldrm+1?0)Xq{a@_anS2+gF`UD7F7Bum$xD602@rM?9=*3`cM+d|&Yqo%e(u@*@jW}l35A
Y+?%Cb2XP1+;PXo699M$uc@X+llnK!o=6A|)>XupQ^VC#0hEj#DYkWD<2Po;y;Y>=~)ffnLK9DtAR$E;zfDIW20j@iH>k}&eROef
Uz5hv*z#ui41U-
Cvd7DLS+A!^Aab6%P{YC54eOCMy{z8;o~M}o__J=4W3jnHDlvY8QT85L>^_;=a#!f>HR+kor~<Tvts;DgBxy|Cz3ocftN|BAV@2c
dL@(Q6F09LM+7b^pegd)S3GL)@T-
Ff^>cH*V2uN|O45rojc7=j%9Oh#yPIz)yQ5;b3%gy=uNyuX3&H@pq~_dC1*z51X^TYVw;gXHigNR+y6^uVWf=JzTeXn1kGJqOHpD
m0C4>=X8|&W8<B=^Ab1yl)97q?Z?%fjDB9j-MjAOK3sP`NuB&LJrXJIT4(2c-
*Q(|Rm>l(W1BbKT*s<&KR0LZ)Uo)Eb?lM%F$dkb$CEmiyRKt7iP7GwV?&VBJpZ{tjUQIWdc>F1Vw4R!FyAHQ=V!>x)5yt|zAym3*
RQ}Ao}*L-4uFcG5R-
l3gAckqvzNin{N;oeC~H5aEjB2NNz7o0=NvK@CJiNf!vI%^BwnzrB{E7wAe_O2>%A=X=)rO#+9|RB91qRL7c-
yN7hYEbJ>rEm=M{K<2>*_D_4ij{v7oZrJc@U7{jF&4*WdDo_6UFO0skfUfMW=yE6jf=LD#Q$)>ZyeK74T}bLDZK30c*9nZAgho8N
aWv;3iV?5N$w1**5W!03Cq+25&uYFc&uzZsje4mSCoYHGk0aEVi|R82$ym#A>X_tmQA7kp>T;lA1-
xWK)BvBdZKr{g3DB7z&N^QZMs$KH?Yp9(zlL;I)dNBgJfMe*0;Ba1@gYn?r|W&dT3g+JJj9V7N5{aEyE-
C?Hh^kd6A_G3?m4rln`q#ui~`>{9_-t5PgAcs89^%`dO!}_r)@g+Kbb-OmqcLVhYV85eu;C$wGfj`dGb(jrk90Lbn<H8{vi8=USs
0n)+Lp|TD!RO8W7(3@72#KeZp{9CdE}~jSF3%gKLWP>G8zuNe0eoS$WD@r~_8EX$X(NNge0KXjLw3VHL-
L`#^7FS$f5qQ2jq6ZqsbfIb;=a1ZyL|>3eQAD&%IM6>IvV#juJG+GuAts=ALnn>Q`o3xxE*tRzy6IcHsg-Uc@(bDR!tF&Q;SkL)E
%21a0;&n_toQc!-
?0bU>5K76d=vACpE{P(^KfjKdz@>Y5WiEDNrBnDO|<@x~}Ezi=OnJ+yBuX1&!p7^eDbny7l#)9tC&D9);Al?@*ogD9Y;|#iseqR9
lZis^wHok7Bn^@yjot{`rqj|H_|MK@_Zl`ai$K$gp1yLRhT0yN!cfUqHeE(yw%Y0M15m4U+InC=M2rxmJ@*%5!R`7p)W}st*$<3*
;MS#^y{W(biBdO^^Zi*w22QtcAhqc%MGV*eT}34lJy_9L=K)$ZHWPdV%E9ws(z<!={7P$s$o82F{eRHS|R5+1H8`Ey^$-
ln@{QFm{zewVg7IwcFs(&c=4nfnGvGQl_ALl#`|ihqv{3${ZRlSKyV&<;bO@4Cb-)+-
x1WhBfOOnA_V7f(jOX<~xR!__~qFSv?oar8<IX4@9%0sK9Zab*s;rl&+YwCwN{TA=$C4g`vRQrzz4aD6+EbOh?@$*FZm`g!_BJPJ
StZGj}HWs>%e~3Sj*NUM(W0|MI@wqP3s<Fh{+%Swe`He2^<ZV0`u6u@$hwh=Bx<EDRwNhF0V#N#qPMoA1^w2OHJ*q1hrPYnl|C7>
|ja#n=d#sS+?-
GPi)~7qYeF6TguauyzFRF7`SF?5Z9|$MM10{rh(_l1lk5yPGd5P^#aXZ;E^%3@SBB;ThfoJq^s{8}M)K75jRjPr+ZomJqO2#P+tJ
lXB1rZ3?a)hk5aN>`k3GoWi<$dHht{1{F?YGcnFwkTu-
<z8JrdarrR5KD%GCr=DxWdIQKy5Kq!@r<>kMA*?5&@Hzp2a_J_<8eN_+<1}`!^^Is7fIFcwShs*v3(qTg4}d4^8)7CVe87X<#6$-
FA@k38u<b%Gj69herC8sC12F=f;CX?@h#r)YVqlbSwzbU2EAa{GY;4-
h4W+1ajCm`Agm3rG{Y%Y5=PS$!Z0+pE`F_VM%K5&?@N0WZ;6HO4l7;pPzMOgVs+`c-YsB_*C_1vR3-
^fj3g(O5&LL?j6G)Ed@9RLJvZ*&GXwbC;U5n<KhtjQ3^DZbh$U4)09?~|kN9`Mc6`<49GM^|Oe5?qK{Te1zz$Zmyf!=x2JNSgODx
Sq;P~RU&ef68B*W;VxII(fZoZHhtiVtz|L?;h{)KTd;E1qZF6(iN-
{9!y2lPHkvajnDC!H<$}fwU=}t**r7$>&xb5#T1o4ag?(W0b6z5lqqB^`2;Et@lv#uk^-
%Cx8XTvr}UNEBvmUi1Oc(V~QV;qj~W`&fLM=v3dPW@{CV%!stB4MZivNXFJFv&S`$qA>kS|wi7>qxSqngE0#C_Y)v%c8@2Dq0D6G
msH?9+@O#FE7;=>v+{;Izo`#A})wlz4Di0ETO<rMarkZj`P5qf~%B!)%m+F?H)LckM=8W=8ZRLv^kWWN=mDeA0b`H--
b&m0c!NOPcG00m@XuSgk48d)JX@^aWukb!=GfL4bR={4<-Y=j2`#%RA{5A
""".replace("\n", "")
        )
    )
)


def torch_folder(path):
    path.mkdir()
    for name, data in TORCH.items():
        (path / name).write_bytes(base64.b64decode(data))
    return path


def test_a_folder_of_torch_is_read_as_data(tmp_path):
    folder = torch_folder(tmp_path / "torch")
    state = {
        "model": {"weight": taeda.zeros(4, 3), "bias": taeda.zeros(4)},
        "step": 0, "list": [0, 0, taeda.zeros(2)], "opt": {"lr": 0.0},
    }  # fmt: skip
    dcp.load(state, checkpoint_id=folder)
    assert state["step"] == 7 and state["opt"] == {"lr": 0.1}
    assert state["list"][:2] == [1, 2] and state["list"][2].tolist() == [1, 1]
    assert state["model"]["weight"].tolist() == taeda.arange(12.0).view(4, 3).tolist()

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        mine = distribute_tensor(taeda.zeros(4, 3), mesh, [Shard(1)])
        dcp.load({"model": {"weight": mine}}, checkpoint_id=folder)
        return mine.full_tensor().tolist()

    assert on_threads(2, work)[0] == taeda.arange(12.0).view(4, 3).tolist()
    dcp_to_torch_save(folder, tmp_path / "one.pt")
    assert taeda.load(tmp_path / "one.pt")["list"][1] == 2


@pytest.mark.parametrize("change", ["code", "cut", "outside", "flipped"])
def test_a_bad_folder_of_torch_is_refused(tmp_path, change):
    folder = torch_folder(tmp_path / "torch")
    index, piece = folder / ".metadata", folder / "__0_0.distcp"
    if change == "code":
        index.write_bytes(b"cos\nsystem\n(S'touch /tmp/never'\ntR.")
    elif change == "cut":
        piece.write_bytes(piece.read_bytes()[:-400])
    elif change == "outside":
        index.write_bytes(index.read_bytes().replace(b"__0_0.distcp", b"../../ab.xyz"))
    else:
        data = bytearray(index.read_bytes())
        data[60] ^= 255
        index.write_bytes(bytes(data))
    with pytest.raises(CheckpointException):
        dcp.load({"list": [0, 0, taeda.zeros(2)]}, checkpoint_id=folder)
