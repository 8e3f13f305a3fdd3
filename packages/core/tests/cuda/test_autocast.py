"""Autocast on the stand-in driver: what computes in which type, and steps that train."""

import importlib.util
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("taeda.amp") is None or importlib.util.find_spec("taeda.nn") is None,
    reason="taeda-amp and taeda-nn are not installed beside core",
)

CASES = {
    "types": """
with taeda.autocast("cuda"):
    assert taeda.get_autocast_dtype("cuda") is (x @ x).dtype is F.linear(x, x).dtype is taeda.float16
for low in (taeda.float16, taeda.bfloat16):
    h = x.to(low)
    with taeda.autocast("cuda", dtype=low):
        assert (x @ x).dtype is taeda.addmm(x, x, x).dtype is F.conv1d(x[None], x[:, :, None]).dtype is low
        for f in (taeda.exp, taeda.sum, lambda t: t ** 2, lambda t: t.softmax(1), lambda t: t.cumsum(0),
                  lambda t: F.mse_loss(t, t), lambda t: F.layer_norm(t, (4,)),
                  lambda t: F.cross_entropy(t, y)):
            assert f(h).dtype is taeda.float32
        assert taeda.cat([h, x]).dtype is taeda.float32 and taeda.cat([h, h]).dtype is low
        assert (h + h).dtype is F.relu(h).dtype is F.gelu(h).dtype is low
        assert (x.double() @ x.double()).dtype is taeda.float64
        assert h.sum(dtype=low).dtype is low
        assert (x.cpu() @ x.cpu()).dtype is taeda.float32 and h.cpu().exp().dtype is low
        with taeda.autocast("cuda", enabled=False):
            assert (x @ x).dtype is taeda.float32
    assert (x @ x).dtype is taeda.float32
with taeda.autocast("cpu"):
    assert (x @ x).dtype is taeda.float32 and (x.cpu() @ x.cpu()).dtype is taeda.bfloat16
""",
    "values": """
w = taeda.randn(4, 4, device="cuda", requires_grad=True)
with taeda.autocast("cuda", dtype=taeda.bfloat16):
    z = F.linear(x, w)
    again = F.linear(x, w)
def short(t):
    return t.detach().cpu().bfloat16().double()
assert taeda.allclose(z.cpu().double(), short(x) @ short(w).t(), rtol=2 ** -8) and taeda.equal(z, again)
z.float().sum().backward()
assert w.grad.dtype is taeda.float32
assert taeda.allclose(w.grad.cpu().double(), taeda.ones(4, 4).double() @ short(x), rtol=2 ** -7, atol=1e-2)
""",
    "losses and images": """
h, i = taeda.randn(4, 6, device="cuda").half(), taeda.tensor([0, 1, 2, 0]).cuda()
deep = {0: "linear", 1: "bilinear bicubic", 2: "trilinear"}
smooth = dict(size=(3, 3), antialias=True)
with taeda.autocast("cuda"):
    wide = [F.interpolate(h[(None,) * (1 + n)], scale_factor=2, mode=mode)
            for n in deep for mode in f"nearest nearest-exact {deep[n]}".split()]
    wide += [F.interpolate(h[None, None], mode=mode, **smooth) for mode in ("bilinear", "bicubic")]
    wide += [F.nll_loss(h, i), F.cross_entropy(h, i), F.cosine_similarity(h, h), F.pdist(h)]
    wide += [F.cosine_embedding_loss(h, h, i.sign()), F.rms_norm(h, (6,)), taeda.vdot(h[0], h[0].float())]
assert {t.dtype for t in wide} == {taeda.float32}, [t.dtype for t in wide]
with taeda.autocast("cpu"):
    assert F.cosine_similarity(h.cpu().bfloat16(), h.cpu().bfloat16()).dtype is taeda.bfloat16
""",
    "what is not supported": """
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    region = taeda.autocast("cuda", dtype=taeda.float32)
assert "In CUDA autocast, but the target dtype taeda.float32 is not supported" in str(told[0].message)
with region:
    assert (x @ x).dtype is taeda.float32
""",
    "training": """
def losses(device, cast):
    taeda.manual_seed(1)
    model = taeda.nn.Sequential(taeda.nn.Linear(4, 8), taeda.nn.GELU(), taeda.nn.Linear(8, 3)).to(device)
    opt = taeda.optim.SGD(model.parameters(), lr=0.5)
    scaler = taeda.amp.GradScaler("cuda", enabled=device == "cuda")
    seen = []
    for _ in range(5):
        with taeda.autocast(device, dtype=cast, enabled=cast is not None):
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
        assert loss.dtype is taeda.float32
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        seen.append(loss.item())
    return seen
exact = losses("cpu", None)
for cast in (taeda.float16, taeda.bfloat16):
    made = losses("cuda", cast)
    assert all(abs(a - b) < 0.05 for a, b in zip(made, exact, strict=True)), (made, exact)
    assert made != exact and made[-1] < made[0]
""",
    "recurrent layers": """
layer = taeda.nn.LSTM(4, 3).cuda()
with taeda.autocast("cuda", dtype=taeda.bfloat16):
    out, (h, c) = layer(x[None].bfloat16())
assert out.dtype is h.dtype is taeda.bfloat16
""",
    "older names": """
with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    with taeda.cuda.amp.autocast():
        assert (x @ x).dtype is taeda.float16
""",
}
START = """
import warnings, taeda
F = taeda.nn.functional
taeda.manual_seed(0)
x, y = taeda.randn(4, 4, device="cuda"), taeda.tensor([0, 1, 2, 0], device="cuda")
"""


LONG = ("training", "types")  # kernels of many loops are compiled


@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=pytest.mark.slow) if c in LONG else c for c in CASES]
)
def test_autocast(case):
    standin.run(START + CASES[case])
