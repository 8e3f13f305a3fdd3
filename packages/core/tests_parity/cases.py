"""Expressions to evaluate, by family, separated by semicolons.
`t` is the library, `F` its nn.functional; SHAPES lists the tensors.

The parity tests compare them with torch; the fuzzer takes them as valid calls to spoil.
"""

from __future__ import annotations

import re

SHAPES: dict[str, tuple[int, ...]] = dict.fromkeys("xypq", (2, 3, 4))  # p and q are positive
SHAPES |= {
    "v": (4,),
    "w": (4,),
    "z": (3, 1),
    "m": (3, 4),
    "n": (4, 5),
    "s": (4, 4),
    "c": (),
    "e": (0, 3),
}
# b is bool, i holds int64 indices below 3
SHAPES |= {"g": (2, 4, 6, 6), "b": (2, 3, 4), "i": (2, 3)}


def expressions(table: str) -> list[str]:
    """The entries of a table below. A line that is indented goes on with the entry before."""
    lines = re.sub(r"\n +", " ", table.strip()).splitlines()
    return [text.strip() for line in lines for text in line.split(" ; ")]


# Ours is row-major where torch keeps the order of a transposed input, or the other way round.
# Values are compared all the same.
LAYOUT_DIFFERS = set(
    expressions("""
x[i.clamp(max=1)] ; x[[0, 1]] ; x[True] ; x[:, i] ; x[:, [0, 2]] ; x.sort() ; x.sort(1)
x.sort(dim=1, descending=True, stable=True)
p.argsort(stable=True) ; x.masked_fill(b, 3) ; 2 ** x ; F.logsigmoid(x)
m.scatter(1, i, m[:2, :3]) ; m.scatter(0, i, 2.5)
m.scatter_add(0, i, m[:2, :3]) ; m.scatter_reduce(0, i, m[:2, :3], 'sum', include_self=False)
m.index_add(0, i[0], m)
m.scatter_reduce(0, i, m[:2, :3], 'amax') ; m.index_copy(0, t.tensor([0, 2]), m[:2])
F.conv1d(x.mT, x.mT[:, :, :3], v[:2], padding=1) ; F.conv1d(x.mT, x.mT[:, :, :2])
""")
)
# Both refuse, with exceptions of different types.
REFUSAL_DIFFERS = set(expressions("x['a'] ; m.scatter(0, i, v) ; ~x"))

# every dtype and layout
POINTWISE = """
x + y ; x + z ; x + c ; x + 2 ; x + 2.5 ; x + True ; 2 - x ; x - y ; t.sub(x, y, alpha=2)
t.add(x, y, alpha=3)
x * y ; x * 2 ; x * 2.5 ; 2.5 * x ; x / y ; x / 2 ; 2 / p ; x // 2 ; x // y ; x % 3 ; x % y
7 % p ; -x ; +x ; abs(x)
x ** 2 ; x ** 3 ; p ** 0.5 ; p ** y ; 2 ** x ; p ** -1.0 ; x ** 0 ; ~x ; x & y ; x | y ; x ^ y
x << 1 ; x >> 1
x == y ; x != y ; x < y ; x <= 1 ; x > z ; x >= 0.5 ; t.eq(x, 1) ; t.ne(x, y)
t.logical_and(x, y) ; t.logical_or(x, z)
t.logical_xor(x, y) ; t.logical_not(x) ; t.isnan(x) ; t.isinf(x) ; t.isfinite(x) ; t.signbit(x)
t.sign(x) ; t.sgn(x)
t.maximum(x, y) ; t.minimum(x, z) ; t.fmax(x, y) ; t.fmin(x, y) ; x.clamp(0, 1) ; x.clamp(min=0)
x.clamp(max=z) ; x.clamp(0.5)
t.where(b, x, y) ; t.where(b, x, 1) ; t.where(b, 0.5, x) ; t.where(x > 0, x, z)
x.masked_fill(b, 3) ; t.lerp(x, y, 0.3)
t.exp(x) ; t.exp2(x) ; t.expm1(x) ; t.log(p) ; t.log2(p) ; t.log10(p) ; t.log1p(p) ; t.sqrt(p)
t.rsqrt(p) ; t.square(x)
t.sin(x) ; t.cos(x) ; t.tan(x) ; t.asin(x / 9) ; t.acos(x / 9) ; t.atan(x) ; t.sinh(x) ; t.cosh(x)
t.tanh(x) ; t.asinh(x)
t.acosh(p + 1) ; t.atanh(x / 9) ; t.atan2(x, y) ; t.erf(x) ; t.erfc(x) ; t.erfinv(x / 9)
t.sigmoid(x) ; t.logit(p / 9)
t.relu(x) ; F.gelu(x) ; F.gelu(x, approximate='tanh') ; F.silu(x) ; F.softplus(x)
F.leaky_relu(x, 0.1) ; F.elu(x) ; F.hardtanh(x)
F.logsigmoid(x) ; F.relu6(x) ; F.mish(x) ; F.hardswish(x) ; F.selu(x) ; F.celu(x) ; F.softsign(x)
F.tanhshrink(x)
t.floor(x) ; t.ceil(x) ; t.trunc(x) ; t.round(x) ; t.frac(x) ; t.reciprocal(p) ; t.neg(x)
t.positive(x) ; t.abs(x)
t.addcmul(x, y, p) ; t.addcdiv(x, y, p) ; t.hypot(x, y) ; t.fmod(x, 2) ; t.remainder(x, 2)
t.floor_divide(x, 2)
t.div(x, p, rounding_mode='floor') ; t.div(x, p, rounding_mode='trunc') ; t.copysign(x, y)
t.nan_to_num(x) ; t.logaddexp(x, y)
x.float() ; x.double() ; x.long() ; x.bool() ; x.to(t.bfloat16) ; x.half() ; x.int()
x.type_as(v) ; t.isclose(x, y)
t.bitwise_and(x, y) ; t.bitwise_or(x, 1) ; t.bitwise_not(x) ; t.xlogy(x, p) ; t.sinc(x)
t.deg2rad(x) ; t.heaviside(x, y)
"""

REDUCTION = """
x.sum() ; x.sum(1) ; x.sum((0, 2)) ; x.sum(-1, keepdim=True) ; x.sum(dtype=t.float64) ; x.mean()
x.mean(1) ; x.mean((1, 2), keepdim=True)
x.prod() ; x.prod(1) ; x.max() ; x.min() ; x.max(1) ; x.min(-1) ; x.max(0, keepdim=True)
x.amax(1) ; x.amin((0, 1)) ; x.aminmax(dim=1)
x.argmax() ; x.argmin() ; x.argmax(1) ; x.argmin(0, keepdim=True) ; x.any() ; x.all() ; x.any(1)
x.all(-1) ; t.count_nonzero(x)
x.var() ; x.std() ; x.var(1) ; x.std((0, 1), keepdim=True) ; x.var(1, unbiased=False)
x.var(dim=1, correction=0) ; t.var_mean(x, 1) ; t.std_mean(x, 1)
x.norm() ; x.norm(2, 1) ; x.norm(1, (0, 1)) ; x.norm(float('inf'), 1)
t.linalg.vector_norm(x, 3, 1) ; t.logsumexp(x, 1)
x.cumsum(1) ; x.cumprod(-1) ; x.cumsum(0, dtype=t.float64) ; t.logcumsumexp(x, 1) ; x.median()
x.median(1) ; x.mode(1) ; x.nansum() ; x.nanmean()
x.softmax(1) ; x.softmax(-1) ; x.log_softmax(0) ; x.softmax(1, dtype=t.float64) ; e.sum()
e.sum(0) ; e.prod() ; e.mean() ; e.max()
e.all() ; e.any(1) ; e.argmax() ; e.max(0) ; c.sum() ; c.max() ; c.argmax() ; c.sum(0)
c.softmax(0) ; x.sum(3) ; x.sum((0, 0)) ; e.amax(1)
"""

VIEW = """
x.view(6, 4) ; x.view(-1) ; x.view(2, -1) ; x.reshape(4, 6) ; x.flatten() ; x.flatten(1)
x.flatten(0, 1) ; x.ravel() ; x.unflatten(2, (2, 2))
x.permute(2, 0, 1) ; x.transpose(0, 2) ; x.mT ; m.T ; m.t() ; x.movedim(0, -1) ; x.swapaxes(0, 1)
x.unsqueeze(0) ; x.unsqueeze(-1)
z.squeeze() ; z.squeeze(1) ; z.expand(3, 5) ; z.expand(-1, 4) ; v.expand(2, 4)
z.broadcast_to(2, 3, 5) ; t.broadcast_tensors(z, v)
x.narrow(1, 0, 2) ; x.select(1, 2) ; x.split(2, 1) ; x.split([1, 2], 1) ; x.chunk(2, 2)
t.tensor_split(x, 3, 2) ; x.unbind(1)
m.diagonal() ; s.diagonal(1) ; t.diag(v) ; t.diag(s) ; t.diag_embed(v) ; t.tril(x) ; t.triu(s, 1)
t.tril(m, -1) ; x.unfold(2, 2, 1)
t.cat([x, y]) ; t.cat([x, y], 1) ; t.cat([x, x.double()], 2) ; t.cat([e, m[:, :3]])
t.stack([x, y]) ; t.stack([x, y], -1) ; t.hstack([m, m]) ; t.vstack([m, v])
x.flip(0) ; x.flip((1, 2)) ; x.roll(1) ; x.roll((1, 2), (0, 1)) ; x.rot90() ; x.repeat(2, 1, 1)
x.repeat(2, 1, 1, 1) ; v.repeat_interleave(2)
x.repeat_interleave(2, 1) ; t.tile(x, (2, 1)) ; x.contiguous() ; x.clone() ; x.detach()
t.meshgrid(v, w, indexing='ij') ; t.atleast_2d(v)
F.pad(x, (1, 1)) ; F.pad(x, (1, 0, 2, 1), value=2) ; F.pad(x, (1, 1), mode='reflect')
F.pad(x, (1, 2), mode='replicate') ; F.pad(x, (-1, 1))
F.pad(x, (1, 2), mode='circular') ; x.as_strided((2, 2), (4, 1), 1) ; x.T.shape ; x.stride()
x.view(5) ; x.expand(1) ; x.permute(0, 1) ; t.cat([]) ; x.view(7, -1)
x.squeeze(5) ; x.flatten(2, 1) ; x.transpose(0, 3) ; t.stack([x, v]) ; t.cat([x, v])
x.split(0, 1) ; x.chunk(0) ; x.narrow(1, 2, 2)
"""

INDEX = """
x[0] ; x[-1] ; x[0, 1] ; x[0, 1, 2] ; x[1:] ; x[:, 1] ; x[..., 0] ; x[:, None] ; x[None] ; x[::2]
x[:, :, 1::2] ; x[5:] ; x[1:1] ; x[...]
x[[0, 1]] ; x[[1, 0, 1], [0, 2, 1]] ; x[i.clamp(max=1)] ; x[:, i] ; x[:, i, 0] ; x[0, i]
x[:, [0, 2]] ; x[[0], :, [1]] ; x[b] ; x[x > 0] ; x[b[:, :, 0]]
x[True] ; x[False] ; x[None, b] ; m[i] ; v[i] ; c[None] ; c[...] ; x[2] ; x[0, 0, 0, 0]
x[:, :, 4] ; x[[5]] ; x[b[0]] ; x['a'] ; x[1.5] ; x[::-1]
x.gather(2, i[:, :, None].expand(2, 3, 2)) ; m.gather(0, i) ; m.index_select(1, i[0]) ; v.take(i)
x.masked_select(b) ; t.nonzero(x) ; b.nonzero()
m.scatter(0, i, 2.5) ; m.scatter(1, i, m[:2, :3]) ; m.scatter_add(0, i, m[:2, :3])
m.index_add(0, i[0], m) ; m.index_fill(1, i[0], 2) ; m.index_copy(0, t.tensor([0, 2]), m[:2])
m.scatter_reduce(0, i, m[:2, :3], 'amax')
m.scatter_reduce(0, i, m[:2, :3], 'sum', include_self=False) ; t.index_put(m, (i[0],), v)
t.take_along_dim(m, i, 0)
x.sort() ; x.sort(1) ; x.sort(dim=1, descending=True, stable=True) ; p.argsort(stable=True)
m.gather(0, m) ; m.gather(2, i) ; m.index_select(0, i) ; m.scatter(0, i, v) ; x.topk(5)
x.sort(3) ; t.bincount(i.flatten()) ; F.one_hot(i) ; F.one_hot(i, 5) ; F.embedding(i, m)
"""

MATMUL = """
m @ n ; x @ n ; x @ v ; v @ n ; v @ w ; t.mm(m, n) ; t.bmm(x, x.mT) ; t.matmul(x, n) ; m.mv(v)
v.dot(w) ; t.outer(v, w) ; t.inner(v, w)
t.addmm(m[:, :1], m, n[:, :4]) ; t.addmm(m, m, s, beta=0.5, alpha=2) ; t.addmv(m[:, 0], m, v)
t.baddbmm(x, x @ s, s.expand(2, 4, 4)) ; F.linear(x, s) ; F.linear(x, s, v) ; F.linear(v, s, v)
t.einsum('ij,jk->ik', m, n) ; t.einsum('bij,jk->bk', x, n) ; t.einsum('ii', s)
t.einsum('ij->ji', m) ; t.einsum('i,j->ij', v, w) ; t.einsum('b...,b...->...', x, y)
t.tensordot(x, n, 1) ; t.tensordot(x, y, ([0, 1], [0, 1]))
t.kron(v, w) ; t.linalg.multi_dot([m, n]) ; m.t() @ m ; x.mT @ x ; e @ e.t() ; e.t() @ e
m @ m ; x @ x ; v @ m ; t.mm(x, n) ; t.bmm(m, n) ; v.dot(m) ; c @ v ; m @ n.double() ; F.linear(x, m[:, :3])
F.scaled_dot_product_attention(x, y, p) ; F.scaled_dot_product_attention(x, x, x, is_causal=True)
F.scaled_dot_product_attention(x, y, p, attn_mask=b[:, :, :3])
F.scaled_dot_product_attention(x, y, p, scale=0.3)
"""

LINALG = """
t.linalg.solve(s + 9 * t.eye(4), m.mT) ; t.linalg.solve(s + 9 * t.eye(4), v)
t.linalg.solve(s + 9 * t.eye(4), m, left=False) ; t.linalg.solve_ex(s + 9 * t.eye(4), x.mT)
t.linalg.inv(s + 9 * t.eye(4)) ; t.linalg.det(s) ; t.linalg.slogdet(s) ; t.logdet(s @ s.mT)
t.linalg.lu_factor(m)
t.linalg.lu_solve(*t.linalg.lu_factor(s + 9 * t.eye(4)), m.mT, adjoint=True)
t.linalg.cholesky(s @ s.mT + 9 * t.eye(4))
t.linalg.cholesky(s @ s.mT + 9 * t.eye(4), upper=True)
t.linalg.cholesky_ex(s - 9 * t.eye(4)).info
t.linalg.ldl_factor((s + s.mT).detach())
t.linalg.ldl_solve(*t.linalg.ldl_factor((s + s.mT).detach()), m.mT.detach()) ; t.linalg.svdvals(m)
t.linalg.eigvalsh(s + s.mT) ; t.geqrf(m.detach())
t.linalg.solve_triangular(s + 9 * t.eye(4), m.mT, upper=True)
t.linalg.solve_triangular(s, m, upper=False, left=False, unitriangular=True)
t.linalg.householder_product(*t.geqrf(m.mT.detach()))
t.ormqr(*t.geqrf(m.mT.detach()), s) ; t.linalg.lstsq(m.mT, v).solution
t.linalg.lstsq(m.mT, s, driver='gelsd').rank ; t.linalg.pinv(m) ; t.linalg.matrix_rank(m)
t.linalg.cond(s + 9 * t.eye(4))
t.linalg.inv(m) ; t.linalg.solve(s, m) ; t.linalg.cholesky(s - 99 * t.eye(4))
t.linalg.inv(t.zeros(4, 4)) ; t.linalg.qr(s, 'full') ; t.linalg.eigh(s, 'X') ; t.linalg.svd(v)
t.linalg.lstsq(m, v) ; t.linalg.ldl_solve(s, i, m)
"""

LAYER = """
F.cross_entropy(m, i[0]) ; F.cross_entropy(m, i[0], reduction='none')
F.cross_entropy(m, i[0], label_smoothing=0.1) ; F.cross_entropy(m, i[0], weight=p[0, 0])
F.cross_entropy(m, i[0], ignore_index=1) ; F.cross_entropy(m, m.softmax(1))
F.cross_entropy(x.mT, i)
F.nll_loss(m.log_softmax(1), i[0]) ; F.nll_loss(m.log_softmax(1), i[0], reduction='sum')
F.mse_loss(x, y) ; F.mse_loss(x, y, reduction='none') ; F.l1_loss(x, y) ; F.smooth_l1_loss(x, y)
F.huber_loss(x, y)
F.binary_cross_entropy(x.sigmoid(), y.sigmoid())
F.binary_cross_entropy_with_logits(x, y.sigmoid())
F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=v.abs())
F.kl_div(x.log_softmax(1), y.softmax(1), reduction='batchmean')
F.layer_norm(x, (4,)) ; F.layer_norm(x, (4,), v, w) ; F.layer_norm(x, (3, 4)) ; F.group_norm(g, 2)
F.group_norm(g, 2, v, w) ; F.rms_norm(x, (4,), v) ; F.normalize(x, dim=1) ; F.normalize(x, 1, 2)
F.batch_norm(g, t.zeros(4), t.ones(4)) ; F.batch_norm(g, None, None, v, w, training=True)
F.batch_norm(x.mT, t.zeros(4), t.ones(4), training=True) ; F.instance_norm(g)
F.conv2d(g, g[:1, :, :3, :3]) ; F.conv2d(g, g[:, :, :3, :3], v[:2], stride=2, padding=1)
F.conv2d(g, g[:, :2, :2, :2], groups=2) ; F.conv2d(g, g[:, :, :2, :2], dilation=2)
F.conv2d(g, g[:, :, :1, :1]) ; F.conv2d(g, g[:, :, :3, :3], padding='same')
F.conv2d(g, g[:1, :1, :3, :3].expand(4, 1, 3, 3), groups=4, padding=1)
F.conv1d(x.mT, x.mT[:, :, :2]) ; F.conv1d(x.mT, x.mT[:, :, :3], v[:2], padding=1)
F.conv2d(g[0], g[:, :, :3, :3]) ; F.conv2d(g, g[:, :3, :3, :3])
F.conv_transpose2d(g, g[:, :, :3, :3].transpose(0, 1), stride=2)
F.max_pool2d(g, 2) ; F.max_pool2d(g, 3, 2, 1) ; F.max_pool2d(g, 2, return_indices=True)
F.avg_pool2d(g, 2) ; F.avg_pool2d(g, 3, 2, 1) ; F.avg_pool2d(g, 3, 2, 1, count_include_pad=False)
F.max_pool1d(x, 2) ; F.avg_pool1d(x, 2) ; F.max_pool2d(g, 3, 2, ceil_mode=True)
F.adaptive_avg_pool2d(g, 1) ; F.adaptive_avg_pool2d(g, (2, 3)) ; F.adaptive_max_pool2d(g, 2)
F.adaptive_avg_pool1d(x, 3) ; F.dropout(x, 0.0) ; F.dropout(x, 0.5, training=False)
F.embedding(i, m, padding_idx=1) ; F.glu(x) ; F.cosine_similarity(x, y)
F.pairwise_distance(m, m + 1)
p.topk(2) ; p.topk(2, 1, largest=False) ; p.kthvalue(2) ; t.searchsorted(t.arange(5.0), p)
F.max_pool2d(g, 7) ; F.layer_norm(x, (3,)) ; F.cross_entropy(m, i) ; F.nll_loss(m, i[0] + 9)
F.dropout(x, 1.5) ; F.mse_loss(x, v) ; F.prelu(g, v.abs()) ; F.softmin(x, 1) ; F.unfold(g, 2)
F.interpolate(g, scale_factor=2)
"""

CREATION = """
t.zeros(2, 3) ; t.ones((2, 3), dtype=t.int32) ; t.empty(0, 3) ; t.full((2, 2), 3)
t.full((2,), 2.5) ; t.full((), True) ; t.eye(3) ; t.eye(2, 4) ; t.arange(5) ; t.arange(1, 7, 2)
t.arange(0.0, 1.0, 0.3) ; t.arange(5, 0, -2)
t.linspace(0, 1, 5) ; t.linspace(3, -3, 4, dtype=t.float64) ; t.logspace(0, 2, 3) ; t.tensor(3)
t.tensor(2.5) ; t.tensor([1, 2.5]) ; t.tensor([[True], [False]]) ; t.tensor([])
t.tensor([1, 2], dtype=t.bfloat16) ; t.tensor(1j)
t.zeros_like(x) ; t.ones_like(x, dtype=t.int64) ; t.full_like(x, 2) ; t.empty_like(x).shape
x.new_zeros(3) ; x.new_full((2,), 7) ; x.new_tensor([1, 2]) ; x.new_ones(2, 2) ; t.zeros(-1)
t.arange(0, 5, -1) ; t.tensor([[1], [2, 3]]) ; t.linspace(0, 1, -1)
t.zeros(2, device='meta') ; (x.to('meta') @ n.to('meta')) ; t.conv2d(g.to('meta'), g.to('meta'))
t.complex(v, w) ; t.polar(v.abs(), w) ; t.view_as_real(t.complex(v, w))
t.promote_types(t.int32, t.float16) ; t.result_type(x, 1.5) ; t.can_cast(t.float32, t.int32)
t.finfo(t.float32).eps ; t.iinfo(t.int8).max ; x.dtype ; x.ndim ; x.numel()
x.size() == (2, 3, 4) ; x.is_contiguous() ; x.element_size() ; t.numel(x) ; c.item()
x.tolist() == x.tolist() ; len(x) ; bool(c) ; x.is_floating_point()
"""

# functions at the top that are layers, or older names
TOP = """
t.cosine_similarity(x, y) ; t.cosine_similarity(x, y, 2, 1e-3) ; t.pairwise_distance(m, m + 1)
t.pairwise_distance(m, m + 1, 1.0, keepdim=True) ; t.pdist(m) ; t.pdist(m, 1.0)
t.ctc_loss(x.log_softmax(2), i[:, :2] % 2 + 1, t.tensor([2, 2, 2][:3]), t.tensor([1, 1, 1]))
t.ctc_loss(g[0].log_softmax(2), t.tensor([1] * 6), [4] * 6, [1] * 6, 0, 0)
t.ctc_loss(g[0].log_softmax(2), t.tensor([1] * 6), [4] * 6, [1] * 6, 0, 2)
t.embedding_bag(m, t.tensor([0, 2, 1, 1]), t.tensor([0, 2]))[0]
t.embedding_bag(m, t.tensor([0, 2, 1, 1]), t.tensor([0, 2]), False, 1)[0]
t.embedding_bag(m, t.tensor([0, 2, 1, 1]), t.tensor([0, 2]), mode=2)[0]
t.embedding_bag(m, t.tensor([0, 2, 1, 1]), t.tensor([0, 2]), False, 0, False, None, False, 1)[0]
t.embedding_bag(m, t.tensor([0, 2, 1, 1]), t.tensor([0, 2, 4]), include_last_offset=True)[0]
t.embedding_renorm_(m.detach().clone(), i, 0.5, 2.0)
t.alpha_dropout(x, 0.5, False) ; t.feature_dropout(x, 0.5, False)
t.feature_alpha_dropout(x, 0.0, True) ; t.alpha_dropout(x, 1.0, True)
t.feature_dropout(v, 0.5, True) ; t.alpha_dropout_(x.detach().clone(), 0.0, True)
t.grid_sampler(g, g[:, :1, :3, :2].permute(0, 2, 1, 3).expand(2, 3, 2, 2).tanh(), 0, 0, False)
t.grid_sampler_2d(g, g[:, :2, :3, :2].tanh(), 1, 1, True)
t.grid_sampler_3d(g[None], g[None, :, :1, :1, :3].tanh(), 0, 2, False)
t.affine_grid_generator(x[:, :2, :3], [2, 1, 3, 4], False) ; t.norm_except_dim(x)
t.norm_except_dim(x, 2, 1) ; t.norm_except_dim(x, 1, -1)
t.conv_tbc(x, x.mT[:, :4, :2].expand(2, 4, 2), v[:2], 1)
t.frobenius_norm(x, [0, 1]) ; t.frobenius_norm(x, 1, True) ; t.nuclear_norm(m)
t.nuclear_norm(x, [1, 2]) ; t.nuclear_norm(x, [1, 2], True)
t.segment_reduce(m, 'sum', lengths=t.tensor([2, 0, 1]))
t.segment_reduce(m, 'mean', lengths=t.tensor([1, 2]))
t.segment_reduce(m, 'max', offsets=t.tensor([0, 1, 3]))
t.segment_reduce(m, 'min', lengths=t.tensor([1, 2]), initial=0.5)
t.segment_reduce(p[0], 'prod', lengths=t.tensor([3]))
t.segment_reduce(m, 'sum', lengths=t.tensor([[1, 3], [2, 2], [4, 0]]), axis=1)
t.segment_reduce(m, 'mean', lengths=t.tensor([2, 0, 1]), initial=3.0)
t.segment_reduce(m, 'sum', lengths=t.tensor([2]))
t.segment_reduce(m, 'sum', lengths=t.tensor([2]), unsafe=True)
t.segment_reduce(m, 'sum') ; t.segment_reduce(m, 'sum', indices=i[0])
t.segment_reduce(m, 'middle', lengths=t.tensor([3]))
t.segment_reduce(m, 'sum', lengths=t.tensor([-1, 4]))
t.segment_reduce(i, 'sum', lengths=t.tensor([2]))
t.get_device(x) ; t.is_same_size(x, y) ; t.is_same_size(x, m) ; t.is_distributed(x)
t.detach_(x * 1) ; t.as_strided_(m.detach().clone(), (2, 2), (1, 2)) ; x.is_same_size(y)
c.is_nonzero() ; x.is_nonzero() ; x.is_distributed()
x.dense_dim() ; x.sparse_dim() ; x.to_dense() ; x.to_dense(t.float64)
m.detach().clone().map2_(m.detach(), m.detach(), lambda a, b, c: a + 2 * b - c) ; x.pin_memory()
t.init_num_threads() ; t.is_vulkan_available() ; t.is_anomaly_enabled()
t.is_anomaly_check_nan_enabled()
t.lobpcg((s @ s.mT + t.diag(10 * t.arange(4.0)))[:1, :1].expand(5, 5) * 0 + t.diag(t.arange(1.0, 6.0)))[0]
t.lobpcg(s, 2)
t.lstm(x.mT, [g[:1, :1, :1, :3].reshape(1, 1, 3).expand(1, 4, 3), g[1:, :1, :1, :3].reshape(1,
    1, 3).expand(1, 4, 3)], [g[:, :, 0, :3].reshape(8, 3).repeat(2, 1)[:12], g[:, :, 1,
    :3].reshape(8, 3).repeat(2, 1)[:12]], False, 1, 0.0, False, False, False)
t.gru(x, g[:1, :2, 0, :2], [g[:, :, 0, :4].reshape(8, 4)[:6], g[:, :, 1, :2].reshape(8, 2)[:6],
    v.repeat(2)[:6], w.repeat(2)[:6]], True, 1, 0.0, False, False, True)
t.rnn_tanh(x, t.tensor([2, 1, 1][:2]), v[None, :2, None].expand(1, 2, 3), [n.mT[:3], s[:3, :3]],
    False, 1, 0.0, False, False)
t.rnn_relu(m.double(), t.tensor([2, 1]), v[None, :2, None].expand(1, 2, 3).double(),
    [s[:3].double(), s[:3, :3].double()], False, 1, 0.0, False, False)
t.rnn_tanh(x, g[:, :3, 0, :3].double()[:2].to(x.dtype), [s[:3], s[:3, :3], s[:3], s[1:4, :3]],
    False, 1, 0.0, False, True, False)
t.lstm(x, [v[None, None]], [], False, 1, 0.0, False, False, False)
t.lstm_cell(m, [m[:, :2], m[:, 2:]], g[:, :, 0, :4].reshape(8, 4), g[:, :, 1, :2].reshape(8, 2))
t.gru_cell(m, m[:, :2], g[:, :, 0, :4].reshape(8, 4)[:6], g[:, :, 1, :2].reshape(8, 2)[:6])
t.rnn_tanh_cell(m / 9, m / 9, s, s, v / 9, w) ; t.rnn_relu_cell(m, m, s, s)
"""
