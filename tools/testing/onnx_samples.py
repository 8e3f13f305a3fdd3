"""A sample of every rule: a function and its arguments, by a name that says what is tried."""

# ruff: noqa: E501 - a line is a sample

from __future__ import annotations

from program_models import normal

import taeda
import taeda.nn.functional as F

_UNARY = (
    "exp log sqrt sin cos tan asin acos atan sinh cosh asinh atanh tanh sigmoid erf reciprocal abs "
    "neg relu sign sgn ceil floor round trunc rsqrt square exp2 log2 log10 logical_not isnan isinf "
    "isposinf isneginf prod sum mean max min amax amin argmax argmin any all var std"
)
_BINARY = (
    "add sub mul div floor_divide remainder fmod maximum minimum eq ne lt le gt ge logical_and "
    "logical_or logical_xor max min"
)
_ACTIVATIONS = (
    "gelu silu mish relu6 hardtanh hardsigmoid hardswish leaky_relu elu celu selu softplus "
    "logsigmoid tanhshrink hardshrink softshrink softsign"
)
_ALONG = (
    "softmax log_softmax sum mean max min amax amin argmax argmin any all prod logsumexp cumsum var "
    "std sort unbind"
)


def _samples():
    x, y = normal(3, 4).clamp(-0.9, 0.9), normal(4, 3).t() + 0.01
    ints, more = taeda.arange(-6, 6).view(3, 4), taeda.tensor([[3, -3, 2, -2]])
    image, line = normal(2, 4, 8, 8), normal(2, 4, 8)
    volume = normal(1, 2, 4, 4, 4)
    bits, index = x > 0, taeda.tensor([[0, 2, 1, 1]])
    made = {f"{n}()": (lambda v, n=n: getattr(v, n)(), (x.abs(),)) for n in _UNARY.split()}
    made |= {
        f"-{n}()": (lambda v, n=n: getattr(v, n)(), (x,))
        for n in "abs relu sign trunc round floor".split()
    }
    made |= {f"{n}(,)": (lambda a, b, n=n: getattr(a, n)(b), (x, y)) for n in _BINARY.split()}
    integers = "add mul floor_divide remainder fmod eq lt bitwise_and bitwise_or bitwise_xor maximum".split()
    made |= {f"{n}(int)": (lambda a, b, n=n: getattr(a, n)(b), (ints, more)) for n in integers}
    made |= {
        f"{n}(number)": (lambda a, n=n: getattr(a, n)(2), (ints,))
        for n in integers
        if n != "maximum"
    }
    made |= {
        f"bool {n}": (lambda a, n=n: getattr(a, n)(a), (bits,))
        for n in "add mul bitwise_and bitwise_or bitwise_xor".split()
    }
    made |= {f"F.{n}": (lambda v, n=n: getattr(F, n)(v * 3), (x,)) for n in _ACTIVATIONS.split()}
    made |= {f"{n}(dim)": (lambda v, n=n: getattr(v, n)(-1), (x,)) for n in _ALONG.split()}
    more_made = {
        "acosh": (lambda v: v.abs().add(1).acosh(), (x,)),
        "gelu tanh": (lambda v: F.gelu(v, approximate="tanh"), (x,)),
        "threshold": (lambda v: F.threshold(v, 0.1, 7.0), (x,)),
        "prelu": (lambda v, w: F.prelu(v, w), (image, normal(4))),
        "rsub": (lambda v: 2 - v, (x,)),
        "alpha": (lambda a, b: taeda.add(a, b, alpha=3) - taeda.sub(a, b, alpha=2), (x, y)),
        "mixed": (lambda a, b: (a + b, a > b, b / 2), (x, ints)),
        "div modes": (lambda a, b: (a.div(b, rounding_mode="floor"), a.div(b, rounding_mode="trunc")), (ints, more)),
        "div modes of floats": (lambda a, b: (a.div(b, rounding_mode="floor"), a.div(b, rounding_mode="trunc")), (x, y)),
        "pow": (lambda a, b: (a.abs() ** b, a**2, 2**a), (x, y)),
        "clamp": (lambda v: (v.clamp(-0.5, 0.5), v.clamp_min(0), v.clamp_max(0.1), v.clamp(max=0.2)), (x,)),
        "clamp tensors": (lambda v, a: v.clamp(a, a + 0.1), (x, y)),
        "bitwise_not": (lambda a, b: (~a, ~b), (ints, bits)),
        "where": (lambda c, a, b: (taeda.where(c, a, b), taeda.where(c, a, 2.0)), (bits, x, y)),
        "masked_fill": (lambda v, m: v.masked_fill(m, 3), (x, bits)),
        "lerp": (lambda a, b: (a.lerp(b, 0.3), a.lerp(b, b)), (x, y)),
        "addc": (lambda a, b: (a.addcmul(a, b, value=2), a.addcdiv(a, b, value=3)), (x, y)),
        "products": (lambda a, b: (a @ b.t(), a.mv(b[0]), a[0].dot(b[0]), a[0].outer(b[0])), (x, y)),
        "addmm": (lambda a, b: taeda.addmm(a[:, :3], a, b.t(), beta=2, alpha=3), (x, y)),
        "addmv": (lambda a, b: taeda.addmv(a[:, 0], a, b[0]), (x, y)),
        "bmm": (lambda a: taeda.bmm(a, a.transpose(1, 2)), (line,)),
        "baddbmm": (lambda a: taeda.baddbmm(a[:, :, :4], a, a.transpose(1, 2), beta=0), (line,)),
        "matmul": (lambda a: a @ a.transpose(-1, -2), (image,)),
        "attention": (lambda q: F.scaled_dot_product_attention(q, q, q), (image,)),
        "causal": (lambda q: F.scaled_dot_product_attention(q, q[:, :, :5], q[:, :, :5], is_causal=True), (image,)),
        "masked attention": (lambda q, m: F.scaled_dot_product_attention(q, q, q, m), (image, taeda.ones(8, 8).tril(-1) > 0)),
        "added attention": (lambda q, m: F.scaled_dot_product_attention(q, q, q, m), (image, normal(8, 8))),
        "layer_norm": (lambda v: (F.layer_norm(v, (4,)), F.layer_norm(v, (4,), v[0])), (x,)),
        "group_norm": (lambda v, w: (F.group_norm(v, 2), F.group_norm(v, 2, w, w)), (image, normal(4))),
        "batch_norm": (lambda v, w: F.batch_norm(v, w, w.abs()), (image, normal(4))),
        "embedding": (lambda w, i: F.embedding(i, w), (x, index)),
        "sizes": (lambda v: (v.view(2, 6), v.reshape(-1), v.flatten(), v.unflatten(1, (2, 2)), v.permute(1, 0), v.t(), v.transpose(0, 1)), (x,)),
        "flatten middle": (lambda v: v.flatten(1, 2), (image,)),
        "ones": (lambda v: (v[None].squeeze(), v[None].squeeze(0), v[:, None, :, None].squeeze((1, 3)), v.squeeze()), (x,)),
        "expand": (lambda v: (v[:1].expand(5, -1), v.expand(2, 3, 4), v.repeat(2, 1, 3)), (x,)),
        "slices": (lambda v: (v[1:], v[:, -2:], v[:, ::2], v[-1], v.narrow(1, 1, 2), v.select(0, -2)), (x,)),
        "parts": (lambda v: (*v.split(3, 1), *v.split([1, 3], 1), *v.chunk(2, 1), *v.chunk(3, 1)), (x,)),
        "turned": (lambda v: (v.flip(0, 1), v.roll(1), v.roll((1, -2), (0, 1)), v.swapaxes(0, 1)), (x,)),
        "copies": (lambda v: (v.clone(), v.detach() + 1, v.t().contiguous(), v.to(taeda.int32), v.to(taeda.float64), F.dropout(v, 0.5, False)), (x,)),
        "made": (lambda v: (taeda.zeros(2) + v[0, 0], taeda.ones(2, dtype=taeda.int64), taeda.full((2, 3), 1.5)), (x,)),
        "made like": (lambda v: (taeda.zeros_like(v), taeda.ones_like(v), taeda.full_like(v, 3), v.new_zeros(2), v.new_ones(2), v.new_full((2,), 4)), (x,)),
        "ranges": (lambda v: (taeda.arange(4) + v, taeda.arange(1, 5) + v, taeda.arange(0.0, 2.0, 0.5), taeda.arange(8, 0, -2)), (x,)),
        "scalar": (lambda v: v + taeda.scalar_tensor(3.0), (x,)),
        "joined": (lambda a, b: (taeda.cat([a, b], -1), taeda.stack([a, b], 1), taeda.cat([a, a.to(taeda.float64)])), (x, y)),
        "padded": (lambda v: (F.pad(v, (1, 2, 3, 0), value=2), F.pad(v, (-1, 1))), (x,)),
        "padded edges": (lambda v, w, u: tuple(F.pad(t, (1,) * n, mode=m) for t, n in ((v, 4), (u, 6)) for m in ("reflect", "replicate")), (image, line, volume)),
        "triangles": (lambda v: (v.tril(), v.triu(1)), (x,)),
        "gather": (lambda v, i: (v.gather(0, i), v.index_select(1, i[0]), v[i[0]], v[i[0, :3], i[0, 1:]]), (x, index)),
        "scatter": (lambda v, i: (v.scatter(0, i, v), v.scatter(0, i, 2.0), v.scatter_add(0, i, v)), (x, index)),
        "topk": (lambda v: (*v.topk(2), *v.topk(2, 0, largest=False), *v.sort(descending=True)), (x,)),
        "several dims": (lambda v: (v.sum((1, 2)), v.mean((0, 3), True), v.amax((1, 2)), (v > 0).any((1, 2)), v.var((1, 2), correction=0), v.std((1, 2), correction=0)), (image,)),
        "sums of integers": (lambda v: (v.sum(), v.cumsum(0), v.max(), (v > 0).sum(), v.prod(0)), (ints,)),
        "conv": (lambda a, b, c: (F.conv1d(b, b[:, :, :3]), F.conv2d(a, a[:, :2, :3, :3], stride=2, padding=1, groups=2), F.conv3d(c, c[:, :, :2, :2, :2])), (image, line, volume)),
        "conv without a batch": (lambda b: F.conv1d(b[0], b[:, :, :3]), (line,)),
        "conv transposed": (lambda a: F.conv_transpose2d(a, a[:1, :, :3, :3].expand(4, 4, 3, 3), stride=2, padding=1, output_padding=1), (image,)),
        "pools": (lambda a, b, c: (F.max_pool1d(b, 2), F.max_pool2d(a, 3, 2, 1), F.max_pool3d(c, 2), F.avg_pool1d(b, 2), F.avg_pool2d(a, 3, 2, 1), F.avg_pool3d(c, 2)), (image, line, volume)),
        "pools without a batch": (lambda a, b, c: (F.max_pool1d(b, 2), F.max_pool2d(a, 3, 2, 1), F.max_pool3d(c, 2), F.avg_pool1d(b, 2), F.avg_pool2d(a, 3, 2, 1), F.avg_pool3d(c, 2), F.adaptive_avg_pool1d(b, 4), F.adaptive_avg_pool2d(a, 1), F.adaptive_avg_pool2d(a, (2, 4)), F.adaptive_avg_pool2d(a, (3, 5)), F.adaptive_max_pool2d(a, (3, 4)), *F.max_pool2d(a, 3, 2, 1, return_indices=True)), (image[0], line[0], volume[0])),
        "images without a batch": (lambda a, b: (F.pixel_shuffle(a, 2), F.pixel_unshuffle(a, 2), F.pixel_unshuffle(b, 2), F.conv2d(a, a[:2, None, :3, :3].expand(2, 4, 3, 3)), F.conv_transpose2d(a, a[:, None, :3, :3], stride=2), F.unfold(a, 3), F.fold(F.unfold(a, 3), (8, 8), 3)), (image[0], image.unsqueeze(1))),
        "pools of integers": (lambda a: (F.max_pool2d(a.int(), 2), F.max_pool2d(a.to(taeda.uint8), 2, return_indices=True)[0]), (image.abs() * 9,)),
        "comparisons in place": (lambda a, b: tuple(getattr(a.clone(), f"{n}_")(v) for n in ("lt", "le", "gt", "ge", "eq", "ne") for v in (b, 0.5)), (x, y)),
        "uncounted edges": (lambda a: F.avg_pool2d(a, 3, 2, 1, count_include_pad=False), (image,)),
        "adaptive": (lambda a, b, c: (F.adaptive_avg_pool1d(b, 4), F.adaptive_avg_pool2d(a, 1), F.adaptive_avg_pool2d(a, (2, 4)), F.adaptive_avg_pool3d(c, 2)), (image, line, volume)),
        "larger": (lambda a, b, c: (F.interpolate(b, 13), F.interpolate(a, scale_factor=2), F.interpolate(c, (5, 6, 7)), F.interpolate(b, 12, mode="linear"), F.interpolate(a, (11, 5), mode="bilinear"), F.interpolate(a, (11, 5), mode="bilinear", align_corners=True)), (image, line, volume)),
        "trilinear": (lambda c: F.interpolate(c, (5, 6, 7), mode="trilinear"), (volume,)),
        "pixels": (lambda a: F.pixel_shuffle(a, 2), (image,)),
        "where numbers": (lambda c: taeda.where(c, 1.0, 2.0), (bits,)),
    }  # fmt: skip
    return {**made, **more_made}


_SPECIAL = "erfc expm1 log1p deg2rad rad2deg frac sinc isfinite signbit angle nan_to_num"
_SPECIAL_PAIRS = "logaddexp logaddexp2 copysign heaviside float_power fmax fmin hypot atan2 xlogy"


def _further():
    x, y = normal(3, 4).clamp(-0.9, 0.9), normal(4, 3).t() + 0.01
    odd = taeda.tensor([0.0, -0.0, 1.0, -2.0, float("inf"), -float("inf"), float("nan"), 0.25])
    ints, index = taeda.arange(-6, 6).view(3, 4), taeda.tensor([2, 0])
    image, line = normal(2, 4, 8, 8), normal(2, 4, 8)
    volume, mask = normal(1, 2, 4, 4, 4), x > 0
    made = {f"{n}(odd)": (lambda v, n=n: getattr(v, n)(), (odd,)) for n in _SPECIAL.split()}
    made |= {
        f"{n}(, odd)": (lambda a, b, n=n: getattr(taeda, n)(a, b), (odd, odd.flip(0)))
        for n in _SPECIAL_PAIRS.split()
    }
    made |= {
        f"{n}(, pairs)": (lambda a, b, n=n: getattr(taeda, n)(a.abs(), b), (x, y))
        for n in _SPECIAL_PAIRS.split()
    }
    made |= {
        f"F.{n}": (
            lambda a, b, n=n: tuple(
                getattr(F, n)(a, b, reduction=r) for r in ("none", "mean", "sum")
            ),
            (x, y),
        )
        for n in "mse_loss l1_loss huber_loss smooth_l1_loss soft_margin_loss".split()
    }
    made |= {
        f"F.{n}(targets)": (
            lambda a, b, n=n: tuple(
                getattr(F, n)(a, b, reduction=r) for r in ("none", "mean", "sum")
            ),
            (x.sigmoid(), y.sigmoid()),
        )
        for n in ("binary_cross_entropy", "binary_cross_entropy_with_logits")
    }
    made |= {
        f"{n}(dim)": (lambda v, n=n: getattr(v, n)(-1), (x,))
        for n in "cumprod logcumsumexp cummax cummin count_nonzero median nansum".split()
    }
    made |= {
        f"{n}()": (lambda v, n=n: getattr(v, n)(), (x,))
        for n in "count_nonzero median nansum".split()
    }
    more = {
        "small": (lambda v: (v.expm1(), v.log1p()), (odd * 1e-6,)),
        "relu6 of integers": (lambda v: F.relu6(v), (ints,)),
        "isfinite of integers": (lambda v: v.isfinite(), (ints,)),
        "special": (lambda v: (taeda.special.ndtr(v), taeda.special.entr(v), taeda.special.xlog1py(v, v), v.logit(0.1), v.sigmoid().logit()), (x,)),
        "numbers for NaN": (lambda v: v.nan_to_num(1.0, 2.0, 3.0), (odd,)),
        "extremes of integers": (lambda a: (taeda.fmax(a, a.flip(0)), taeda.fmin(a, a.flip(0)), *a.cummax(1), *a.cummin(0)), (ints,)),
        "shifts": (lambda a, b: (a << b, a >> b), (ints, ints.abs() % 4)),
        "rsub": (lambda a, b: (taeda.rsub(a, b, alpha=2), taeda.rsub(a, 3)), (x, y)),
        "cross entropy": (lambda a, t, w: (*(F.cross_entropy(a, t, reduction=r) for r in ("none", "mean", "sum")), F.cross_entropy(a, t, w, ignore_index=1), F.nll_loss(a, t, w), F.cross_entropy(a[0], t[0])), (x, taeda.tensor([0, 3, 1]), y[0].abs())),
        "cross entropy of images": (lambda a, t: F.cross_entropy(a, t), (image, taeda.arange(128).view(2, 8, 8) % 4)),
        "norms": (lambda v: tuple(taeda.linalg.vector_norm(v, p, d, k) for p in (0, 1, 2, 3.5, float("inf"), -float("inf")) for d, k in ((None, False), (1, True))), (x,)),
        "distances": (lambda a, b: (taeda.cdist(a, b), taeda.cdist(a, b, 1.0), taeda.cdist(a, b, 3.0), F.pairwise_distance(a, b)), (x, y + 0)),
        "cross": (lambda a, b: taeda.linalg.cross(a, b, dim=0), (x, y)),
        "determinant": (lambda v: taeda.linalg.det(v), (normal(2, 3, 3),)),
        "sorted places": (lambda s, v: (taeda.searchsorted(s.sort(-1)[0], v), taeda.searchsorted(s[0].sort()[0], v, right=True), taeda.bucketize(v, s[0].sort()[0], out_int32=True), taeda.bucketize(s, s[0].sort()[0], right=True)), (x, y + 0)),
        "k-th": (lambda v: (*v.kthvalue(2), *v.kthvalue(1, 0, True), *v.median(1), *v.median(0, True)), (x,)),
        "rows": (lambda v, i, s: (v.index_add(0, i, s, alpha=2), v.index_copy(0, i, s), v.index_fill(1, i, 3)), (x, index, normal(2, 4))),
        "reduced places": (lambda v, i: tuple(v.scatter_reduce(0, i, v, r) for r in ("sum", "prod", "amax", "amin")), (x, taeda.tensor([[0, 2, 1, 1], [1, 0, 0, 2]]))),
        "put": (lambda v, i: (v.index_put((i,), v[:2]), v.index_put((i, i + 1), v[0, :2], True), taeda.index_put(v, (i,), v[0])), (x, index)),
        "put by assignment": (put_by_assignment, (x, index, mask)),
        "scatters of parts": (lambda v: (v.select_scatter(v[0] * 2, 0, 1), v.slice_scatter(v[:, :2] * 2, 1, 1, 4, 2), v.slice_scatter(v[:1], 0, 1, 2)), (x,)),
        "take": (lambda v, i: v.take(i), (x, taeda.tensor([[0, 11], [5, -1]]))),
        "filled": (lambda v: (v.clone().fill_(3), v.clone().zero_(), v.clone().copy_(v[0]), taeda.ops.aten.fill(v, 2), v.clone().fill_(1)), (x,)),
        "index behind": (lambda v, i: (v[:, i, i], v[:, i], v[:, :, i, i + 1], v[..., i]), (image, index)),
        "unfold": (lambda v: (v.unfold(1, 2, 1), v.unfold(0, 2, 3), v.unfold(-1, 3, 1)), (x,)),
        "columns": (lambda a: (F.unfold(a, 3, 2, 1, 2), F.unfold(a[0], (2, 3))), (image,)),
        "columns back": (lambda a: F.fold(F.unfold(a, 2, stride=2), (8, 8), 2, stride=2), (image,)),
        "pixels back": (lambda a: F.pixel_unshuffle(a, 2), (image,)),
        "windows": (lambda a, b, c: (F.adaptive_avg_pool2d(a, (3, 5)), F.adaptive_avg_pool1d(b, 3), F.adaptive_max_pool2d(a, (3, 4)), F.adaptive_max_pool1d(b, 3), F.adaptive_max_pool3d(c, 3)), (image, line, volume)),
        "windows and places": (lambda a, b, c: (*F.max_pool2d(a, 3, 2, 1, return_indices=True), *F.max_pool1d(b, 2, return_indices=True), *F.max_pool3d(c, 2, return_indices=True)), (image, line, volume)),
        "another divisor": (lambda a: F.avg_pool2d(a, 3, 2, 1, divisor_override=5), (image,)),
        "exact nearest": (lambda a, b, c: (F.interpolate(a, (11, 5), mode="nearest-exact"), F.interpolate(b, 13, mode="nearest-exact"), F.interpolate(c, (5, 6, 3), mode="nearest-exact")), (image, line, volume)),
        "bicubic": (lambda a: (F.interpolate(a, (11, 5), mode="bicubic"), F.interpolate(a, (11, 13), mode="bicubic", align_corners=True)), (image,)),
        "antialias": (lambda a: F.interpolate(a, (5, 11), mode="bilinear", antialias=True), (image,)),
        "antialias of cubes": (lambda a: F.interpolate(a, (5, 11), mode="bicubic", antialias=True), (image,)),
        "antialias of waves": (lambda a: F.interpolate(a, (5, 11), mode="lanczos", antialias=True), (image,)),
        "samples": (lambda a, g: tuple(F.grid_sample(a, g, m, p, c) for m in ("bilinear", "nearest") for p in ("zeros", "border", "reflection") for c in (False, True)), (image, normal(2, 3, 5, 2).clamp(-1.3, 1.3))),
        "batch statistics": (lambda a, w: (F.batch_norm(a, None, None, training=True), F.instance_norm(a, weight=w, bias=w)), (image, normal(4))),
        "rms norm": (lambda v: (F.rms_norm(v, (4,)), F.rms_norm(v, (4,), v[0])), (x,)),
        "bags": (lambda w, i: (F.embedding_bag(i, w, mode="sum"), F.embedding_bag(i, w, mode="mean")), (x, taeda.tensor([[0, 2], [1, 1]]))),
        "far distances": (lambda a: taeda.cdist(a, a[:27] + 1), (normal(30, 4),)),
        "mm": (lambda a, b: a.mm(b.t()), (x, y)),
        "two results": (lambda v: (*v.aminmax(), *v.aminmax(dim=1), *taeda.std_mean(v), *taeda.var_mean(v, 1), *taeda.std_mean(v, 1, correction=0), *taeda.var_mean(v, unbiased=False), *taeda.std_mean(v, 1, False), *taeda.var_mean(v, 1, correction=0), v.count_nonzero((0, 1))), (x,)),
        "constants": (lambda v: (v[0, 0] + taeda.linspace(0, 1, 5), taeda.logspace(0, 1, 3), taeda.tril_indices(3, 4), taeda.triu_indices(3, 3, 1), taeda.eye(3), taeda.eye(2, 4, dtype=taeda.int64)), (x,)),
        "empty": (lambda v: (taeda.empty(2, 3).fill_(1), taeda.empty_like(v).zero_(), v.new_empty(2).fill_(2)), (x,)),
        "diagonals": (lambda v, a: (v.diagonal(), v.diagonal(1), v.diagonal(-2), a.diagonal(1, 1, 3), v.diag_embed(), v.diag_embed(-1, 0, 1), v[0].diag()), (x, image)),
        "turned around": (lambda v, a: (a.mT, a.mH, v.T, v.H, v.adjoint(), a.movedim(1, -1), a.movedim((0, 1), (2, 0)), a.swapdims(1, 2)), (x, image)),
        "as another": (lambda v, a: (v.reshape_as(a), v.view_as(a), v[:1].expand_as(v), v.ravel(), v[:1].broadcast_to(3, 4), v.tile(2), v.tile(2, 1, 2)), (x, ints.view(2, 6))),
        "uneven parts": (lambda v: (*v[None].dsplit(2), *v.vsplit([1]), *v.hsplit([1, 3]), *v[None].dsplit([1]), *v.vsplit(3), *v.tensor_split(3, 1), *v.tensor_split((1, 3), 1), *v.hsplit(2), *v.split_with_sizes([1, 3], 1)), (x,)),
    }  # fmt: skip
    return {**made, **more}


def put_by_assignment(v, i, m):
    a, b, c, d = v.clone(), v.clone(), v.clone(), v[:, None].expand(3, 2, 4).clone()
    a[i] = 2.0
    b[m] = 3.0
    c[:, i] = v[:, :2]
    d[m[:, :2]] = 1.0
    return a, b, c, d


SAMPLES = {**_samples(), **_further()}
