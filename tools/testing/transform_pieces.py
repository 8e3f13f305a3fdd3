"""Smooth functions of a vector of numbers to one of the same length, of every family of rows: what random
compositions of transforms are made of. Each takes the library first, so that torch can be asked as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["PIECES"]

Piece = Callable[[Any, Any], Any]


def _matrix(lib: Any, x: Any) -> Any:
    n = x.shape[-1]
    return lib.linspace(-1.0, 1.5, n * n, dtype=x.dtype).reshape(n, n)


def _first_place(lib: Any, x: Any) -> Any:
    y = x.clone()
    y[0] = x[1].sin()
    return y


def _added_in_place(lib: Any, x: Any) -> Any:
    y = x * 1
    y[1:] += x[:-1].sin()
    return y


def _view_in_place(lib: Any, x: Any) -> Any:
    y = x.sin()
    y.view(-1)[1:].mul_(x[:-1])
    return y


def _twice_in_place(lib: Any, x: Any) -> Any:
    return (x * 1).mul_(x.cos()).add_(x).tanh_()


def _filled(lib: Any, x: Any) -> Any:
    y = lib.zeros_like(x)
    y.copy_(x.sin())
    return y


def _scattered(lib: Any, x: Any) -> Any:
    at = lib.arange(x.shape[0]).flip(0)
    return lib.zeros_like(x).scatter_add(0, at, x.sin())


def _index_put(lib: Any, x: Any) -> Any:
    return x.index_put((lib.tensor([0, 2, 0]),), x[:3].cos(), accumulate=True)


def _masked(lib: Any, x: Any) -> Any:
    return x.masked_fill(lib.arange(x.shape[0]) % 2 == 0, 0.5) * x


def _attention(lib: Any, x: Any) -> Any:
    q = lib.outer(x.sin(), x)[None]
    return lib.nn.functional.scaled_dot_product_attention(q, q.cos(), q)[0].sum(0)


def _convolved(lib: Any, x: Any) -> Any:
    w = lib.tensor([0.3, -0.5, 0.7], dtype=x.dtype).reshape(1, 1, 3)
    return lib.nn.functional.conv1d(x.sin()[None, None], w, padding=1)[0, 0]


def _convolved_with_itself(lib: Any, x: Any) -> Any:
    return lib.nn.functional.conv1d(x[None, None], x.sin()[None, None, :3], padding=1)[0, 0]


def _normed(lib: Any, x: Any) -> Any:
    return lib.nn.functional.layer_norm(x, x.shape, x.cos(), x, eps=0.5)


def _positive(lib: Any, x: Any) -> Any:
    return lib.outer(x, x).tanh() * 0.2 + 2 * lib.eye(x.shape[0], dtype=x.dtype)


def _solved(lib: Any, x: Any) -> Any:
    return lib.linalg.solve(_positive(lib, x), x)


def _factored(lib: Any, x: Any) -> Any:
    return lib.linalg.cholesky(_positive(lib, x) + lib.diag(x * x)).sum(0)


def _eigenvalues(lib: Any, x: Any) -> Any:
    n = x.shape[0]
    apart = lib.diag(lib.arange(n).to(x.dtype) * 3)
    return lib.linalg.eigvalsh(apart + 0.3 * lib.outer(x.sin(), x.sin())) * 0.3


def _spectrum(lib: Any, x: Any) -> Any:
    y = lib.fft.fft(x)
    return (y * y.conj()).real * 0.1


def _complex(lib: Any, x: Any) -> Any:
    z = lib.complex(x, x.sin())
    return (z * z.exp()).imag * 0.3


def _sorted(lib: Any, x: Any) -> Any:
    return lib.sort(x.sin() + lib.arange(x.shape[0]).to(x.dtype) * 3)[0]


def _largest(lib: Any, x: Any) -> Any:
    return x * (x.sin() + lib.arange(x.shape[0]).to(x.dtype) * 3).amax(0) * 0.1


def _split(lib: Any, x: Any) -> Any:
    a, b = lib.split(x, [1, x.shape[0] - 1])
    return lib.cat([b.sin(), a])


def _unbound(lib: Any, x: Any) -> Any:
    return lib.stack([t.sin() * t for t in x.unbind(0)][::-1])


def _sampled(lib: Any, x: Any) -> Any:
    image = lib.outer(x[:2], x[1:].sin())[None, None]
    grid = lib.stack([x.tanh() * 0.3 + 0.1, x.sin() * 0.3 + 0.1], -1)[None, None]
    return lib.nn.functional.grid_sample(image, grid, align_corners=False)[0, 0, 0]


def _recurrent(lib: Any, x: Any) -> Any:
    """One layer of an LSTM over three steps, whose weights depend on x as well."""
    n = x.shape[0]
    weights = [lib.outer(lib.linspace(-1.0, 1.0, 4 * n, dtype=x.dtype), x.cos()) for _ in range(2)]
    first = lib.zeros(1, 1, n, dtype=x.dtype)
    steps = lib.stack([x, x.sin(), x * x])[:, None]
    return lib.lstm(steps, (first, first), weights, False, 1, 0.0, False, False, False)[0][-1, 0]


def _batch_normed(lib: Any, x: Any) -> Any:
    rows = lib.outer(lib.stack([x[0], x[1], x[0] * x[2]]).sin(), x)
    return lib.nn.functional.batch_norm(rows, None, None, x, x.cos(), True, 0.1, 0.5)[0]


def _group_normed(lib: Any, x: Any) -> Any:
    return lib.nn.functional.group_norm(lib.outer(x, x.cos())[None], 1, x, x.sin(), 0.5)[0, :, 0]


def _transposed(lib: Any, x: Any) -> Any:
    return lib.nn.functional.conv_transpose1d(x[None, None], x.cos()[None, None], padding=1)[0, 0]


def _distances(lib: Any, x: Any) -> Any:
    return lib.cdist(lib.stack([x, x.sin()], 1), lib.stack([x.cos() + 4, x], 1)).sum(1) * 0.2


def _reduced(lib: Any, x: Any) -> Any:
    return x.scatter_reduce(0, lib.tensor([1, 1, 0]), x.cos() + 2, "prod") * 0.3


PIECES: dict[str, Piece] = {
    "sin": lambda lib, x: x.sin(),
    "tanh": lambda lib, x: lib.tanh(x),
    "exp": lambda lib, x: (-x * x).exp(),
    "square": lambda lib, x: x * x * 0.5,
    "power": lambda lib, x: (x * x + 1).pow(1.5) * 0.2,
    "quotient": lambda lib, x: x / (1 + x * x),
    "log1p": lambda lib, x: lib.log1p(x * x),
    "erf": lambda lib, x: lib.erf(x),
    "gelu": lambda lib, x: lib.nn.functional.gelu(x),
    "silu": lambda lib, x: lib.nn.functional.silu(x),
    "softplus": lambda lib, x: lib.nn.functional.softplus(x),
    "atan2": lambda lib, x: lib.atan2(x, x * x + 2),
    "logaddexp": lambda lib, x: lib.logaddexp(x, x.sin()),
    "lerp": lambda lib, x: lib.lerp(x, x.sin(), x.cos()),
    "addcmul": lambda lib, x: lib.addcmul(x, x.sin(), x, value=0.5),
    "addcdiv": lambda lib, x: lib.addcdiv(x, x, x * x + 2, value=0.5),
    "where": lambda lib, x: lib.where(lib.arange(x.shape[0]) > 1, x.sin(), x * x),
    "sum": lambda lib, x: x * x.sin().sum() * 0.3,
    "mean": lambda lib, x: x - x.mean(),
    "var": lambda lib, x: x * x.var() * 0.3,
    "norm": lambda lib, x: x / (x.pow(2).sum() + 1).sqrt(),
    "vector_norm": lambda lib, x: x / lib.linalg.vector_norm(lib.cat([x, lib.ones_like(x)])),
    "prod": lambda lib, x: x + 0.1 * (x + 2).prod(),
    "cumsum": lambda lib, x: x.sin().cumsum(0) * 0.5,
    "cumprod": lambda lib, x: x.cos().cumprod(0),
    "logcumsumexp": lambda lib, x: x.logcumsumexp(0),
    "softmax": lambda lib, x: x.softmax(0) * 2,
    "log_softmax": lambda lib, x: lib.nn.functional.log_softmax(x, 0) * 0.5,
    "logsumexp": lambda lib, x: x - x.logsumexp(0),
    "matrix": lambda lib, x: _matrix(lib, x) @ x * 0.3,
    "linear": lambda lib, x: lib.nn.functional.linear(x.sin(), _matrix(lib, x), x) * 0.3,
    "product": lambda lib, x: lib.outer(x, x.sin()) @ x * 0.2,
    "einsum": lambda lib, x: lib.einsum("i,j,jk->k", x, x.sin(), _matrix(lib, x)) * 0.1,
    "bmm": lambda lib, x: lib.bmm(x[None, :, None], x.sin()[None, None, :])[0].sum(0) * 0.3,
    "baddbmm": lambda lib, x: lib.baddbmm(x, x[None, :, None], x.cos()[None, None, :])[0, 1],
    "dot": lambda lib, x: x.cos() * lib.dot(x, x.sin()) * 0.3,
    "flip": lambda lib, x: x.flip(0) * x,
    "roll": lambda lib, x: x.roll(1, 0) * x.sin(),
    "permuted": lambda lib, x: lib.outer(x, x.sin()).t().sum(0) * 0.3,
    "expanded": lambda lib, x: x.expand(2, -1).sin().sum(0),
    "diagonal": lambda lib, x: lib.outer(x, x.cos()).diagonal() + lib.diag(x).sum(1),
    "tril": lambda lib, x: lib.outer(x, x.sin()).tril() @ x * 0.2,
    "index": lambda lib, x: x[lib.tensor([2, 0, 2])].sin().sum() * x,
    "gather": lambda lib, x: x.gather(0, lib.arange(x.shape[0]).roll(1)) * x,
    "take": lambda lib, x: x * lib.take(x, lib.tensor([0, 0])).sum(),
    "select": lambda lib, x: x * x[0] + x[-1],
    "index_add": lambda lib, x: x.index_add(0, lib.tensor([0, 0]), x[1:3].sin()),
    "as_strided": lambda lib, x: x * (x * 1).contiguous().as_strided((2,), (1,), 1).sin().sum(),
    "unfold": lambda lib, x: x * x.unfold(0, 2, 1).prod(1).sum() * 0.3,
    "pad": lambda lib, x: lib.nn.functional.pad(x, (1, 0))[:-1].sin() + x,
    "pool": lambda lib, x: lib.nn.functional.avg_pool1d(x.sin()[None], 3, 1, 1)[0],
    "interpolated": lambda lib, x: lib.nn.functional.interpolate(
        x.sin()[None, None], scale_factor=2.0, mode="linear"
    )[0, 0, ::2],
    "mse": lambda lib, x: lib.nn.functional.mse_loss(x, x.sin(), reduction="none") + x,
    "cross_entropy": lambda lib, x: (
        x * lib.nn.functional.cross_entropy(x[None], lib.tensor([1])) * 0.3
    ),
    "cosine": lambda lib, x: x * lib.nn.functional.cosine_similarity(x + 2, x.sin() + 1, dim=0),
    "slogdet": lambda lib, x: x * lib.linalg.slogdet(_positive(lib, x))[1] * 0.3,
    "inverse": lambda lib, x: lib.linalg.inv(_positive(lib, x)).sum(0) * x,
    "float": lambda lib, x: x.to(lib.float64).sin().to(x.dtype),
    "constant": lambda lib, x: (
        x.detach() * 0 + lib.linspace(0.2, 0.9, x.shape[0], dtype=x.dtype) * x
    ),
    "dropout": lambda lib, x: lib.nn.functional.dropout(x.sin(), 0.5, False) * x,
    "glu": lambda lib, x: lib.nn.functional.glu(lib.cat([x, x.sin()])),
    "bilinear": lambda lib, x: (
        lib.nn.functional.bilinear(x, x.cos(), lib.stack([_matrix(lib, x)] * 3)) * 0.1
    ),
    "rms_norm": lambda lib, x: lib.nn.functional.rms_norm(x, x.shape, x.cos(), 0.5),
    "instance_norm": lambda lib, x: lib.nn.functional.instance_norm(x[None, None], eps=0.5)[0, 0],
    "kron": lambda lib, x: lib.kron(x[:1], x.sin()) + lib.kron(x, x[:1].cos()),
    "cross": lambda lib, x: lib.linalg.cross(x, x.sin()),
    "matrix_exp": lambda lib, x: lib.linalg.matrix_exp(lib.outer(x, x.sin()) * 0.2).sum(0) * 0.3,
    "pinv": lambda lib, x: lib.linalg.pinv(_positive(lib, x)).sum(0) * x,
    "logdet": lambda lib, x: x * lib.logdet(_positive(lib, x)) * 0.3,
    "multi_dot": lambda lib, x: (
        lib.linalg.multi_dot([x, _matrix(lib, x), lib.outer(x, x.cos())]) * 0.1
    ),
    "std": lambda lib, x: x * x.std() * 0.3,
    "trapezoid": lambda lib, x: (
        x * lib.trapezoid(x.sin(), x) + lib.cumulative_trapezoid(x, x).sum()
    ),
    "gradient": lambda lib, x: lib.gradient(x.sin())[0] * x,
    "hypot": lambda lib, x: lib.hypot(x, x.cos() + 2),
    "lgamma": lambda lib, x: lib.lgamma(x * x + 1.5) * x,
    "xlogy": lambda lib, x: lib.xlogy(x, x * x + 1),
    "huber": lambda lib, x: lib.nn.functional.huber_loss(x, x.sin(), reduction="none") * x + x,
    "bce": lambda lib, x: (
        lib.nn.functional.binary_cross_entropy_with_logits(x, x.sigmoid(), reduction="none") * x
    ),
    "kl_div": lambda lib, x: lib.nn.functional.kl_div(x, x.sigmoid(), reduction="none") * 0.3 + x,
    "sampled": _sampled,
    "recurrent": _recurrent,
    "batch_normed": _batch_normed,
    "group_normed": _group_normed,
    "transposed": _transposed,
    "distances": _distances,
    "reduced": _reduced,
    "first_place": _first_place,
    "added_in_place": _added_in_place,
    "view_in_place": _view_in_place,
    "twice_in_place": _twice_in_place,
    "filled": _filled,
    "scattered": _scattered,
    "index_put": _index_put,
    "masked": _masked,
    "attention": _attention,
    "convolved": _convolved,
    "convolved_with_itself": _convolved_with_itself,
    "normed": _normed,
    "solved": _solved,
    "factored": _factored,
    "eigenvalues": _eigenvalues,
    "spectrum": _spectrum,
    "complex": _complex,
    "sorted": _sorted,
    "largest": _largest,
    "split": _split,
    "unbound": _unbound,
}
