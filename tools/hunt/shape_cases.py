"""The operations of shapes.py: how their operands are drawn, and what they come to by a plain
method in numpy.

A case is a function of a `Draw` that returns (call, reference, operands): `call` takes the operands
as tensors, `reference` takes them as float64 arrays. Operands whose dtype is not the case's own
(indices) are captured by both.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from outcomes import EPSILON, array

import taeda
from taeda.nn import functional as F

__all__ = ["CASES", "Case"]

Built = tuple[Callable[..., Any], Callable[..., Any], list[Any]]
WORK = 6e7  # multiplications of a case: seconds on an instrumented library
REAL = ("float32", "float32", "float64", "bfloat16", "float16")
CASES: dict[str, Callable[[Draw], Built]] = {}


class Draw:
    """Sizes and numbers of one case."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rng = np.random.default_rng(zlib.crc32(str(random.random()).encode()))

    def size(self, high: int = 1100) -> int:
        """From 1 to `high`; often odd, often beside a multiple of 16, and small as often as large."""
        high = max(1, min(high, 1100))
        n = min(high, int(2 ** self.random.uniform(0, np.log2(high + 1))))
        kind = self.random.random()
        if kind < 0.3:
            n = (n + 8) // 16 * 16 + self.random.choice((-1, 1, 1))
        elif kind < 0.7:
            n |= 1
        return max(1, min(high, n))

    def sizes(self, count: int, work: float = WORK, high: int = 1100) -> list[int]:
        """`count` sizes whose product is `work` at most, in any order."""
        found: list[int] = []
        for _ in range(count):
            found.append(self.size(int(min(high, work))))
            work /= found[-1]
        self.random.shuffle(found)
        return found

    def x(self, *shape: int) -> Any:
        return self.rng.standard_normal(shape)

    def one(self, *options: Any) -> Any:
        return self.random.choice(options)


def case(function: Callable[[Draw], Built]) -> Callable[[Draw], Built]:
    CASES[function.__name__] = function
    return function


class Case:
    """One call: an operation, its operands in a dtype, a number of threads."""

    def __init__(self, name: str, random: Random) -> None:
        self.name = name
        self.threads = random.randint(1, 4)
        dtypes = DTYPES.get(name, REAL)
        self.dtype = random.choice(dtypes)
        draw = Draw(random)
        self.call, self.reference, operands = CASES[name](draw)
        self.operands = [self._tensor(a, random) for a in operands]
        self.arrays = [array(t) for t in self.operands]
        self.draw = draw

    def __str__(self) -> str:
        shapes = ", ".join(
            f"{tuple(t.shape)}{'' if t.is_contiguous() else ' turned'}" for t in self.operands
        )
        return f"{self.name} in {self.dtype} of {shapes} on {self.threads} threads"

    def _tensor(self, a: Any, random: Random) -> taeda.Tensor:
        dtype = getattr(taeda, self.dtype)
        if a.ndim > 1 and random.random() < 0.3:
            return taeda.from_numpy(np.ascontiguousarray(np.swapaxes(a, -1, -2))).to(dtype).mT
        return taeda.from_numpy(np.ascontiguousarray(a)).to(dtype)

    def values(self) -> str:
        """Compare the result with the reference."""
        found, wanted = array(self.call(*self.operands)), self.reference(*self.arrays)
        if found.shape != np.shape(wanted):
            return f"shape {found.shape}, not {np.shape(wanted)}"
        if not found.size:
            return ""
        apart = float(np.max(np.abs(found - wanted)))
        allowed = self._tolerance() * max(float(np.max(np.abs(wanted))), 1.0)
        return "" if apart <= allowed else f"values apart by {apart:.3g}, allowed {allowed:.3g}"

    def gradients(self) -> str:
        """Compare the derivative along a direction with the difference quotient of the reference."""
        if self.name in FLAT or not self.operands:
            return ""
        leaves = [t.detach().requires_grad_() for t in self.operands]
        result = self.call(*leaves)
        weight = taeda.from_numpy(self.draw.x(*result.shape)).to(result.dtype)
        grads = taeda.autograd.grad(result, leaves, weight, allow_unused=True)
        lines = [self.draw.x(*a.shape) / np.sqrt(max(a.size, 1)) for a in self.arrays]
        pairs = [(array(g), d) for g, d in zip(grads, lines, strict=True) if g is not None]
        if len(pairs) < len(lines):
            return "an operand has no gradient"
        found = sum(float(np.sum(g * d)) for g, d in pairs)
        scale = sum(float(np.linalg.norm(g.ravel()) * np.linalg.norm(d.ravel())) for g, d in pairs)
        wanted = self._slope(lines, array(weight))
        allowed = 4 * self._tolerance() * max(scale, abs(wanted), 1e-3) + 1e-7 * scale
        # what rounding puts into the quotient
        allowed += 1e-9 * float(np.linalg.norm(array(weight)))
        said = f"gradients apart by {abs(found - wanted):.3g}, allowed {allowed:.3g}"
        return "" if abs(found - wanted) <= allowed else said

    def _slope(self, lines: list[Any], weight: Any) -> float:
        step = 1e-5

        def at(t: float) -> float:
            moved = [a + t * d for a, d in zip(self.arrays, lines, strict=True)]
            return float(np.sum(weight * self.reference(*moved)))

        return (at(step) - at(-step)) / (2 * step)

    def _tolerance(self) -> float:
        """Relative to the largest number: sums of some thousand terms lose some tens of the dtype's
        epsilons.
        """
        epsilon = EPSILON.get(self.dtype, 0.0)
        if self.name == "bilinear":  # a weight is what rounding leaves of a place in the row
            epsilon *= 1 + max(self.arrays[0].shape[-2:]) / 50
        return 12 * epsilon if "float16" in self.dtype else 100 * epsilon


# ---- products ----


@case
def mm(d: Draw) -> Built:
    m, n, k = d.sizes(3)
    return taeda.mm, np.matmul, [d.x(m, k), d.x(k, n)]


@case
def linear(d: Draw) -> Built:
    m, n, k = d.sizes(3)
    return F.linear, lambda x, w, b: x @ w.T + b, [d.x(m, k), d.x(n, k), d.x(n)]


@case
def addmm(d: Draw) -> Built:
    m, n, k = d.sizes(3)

    def call(c: Any, a: Any, b: Any) -> Any:
        return taeda.addmm(c, a, b, beta=0.5, alpha=2)

    return (
        call,
        lambda c, a, b: 0.5 * c + 2 * (a @ b),
        [d.x(*d.one((m, n), (n,))), d.x(m, k), d.x(k, n)],
    )


@case
def bmm(d: Draw) -> Built:
    b, m, n, k = d.sizes(4)
    return taeda.bmm, np.matmul, [d.x(b, m, k), d.x(b, k, n)]


@case
def mv(d: Draw) -> Built:
    m, n = d.sizes(2)
    return taeda.mv, np.matmul, [d.x(m, n), d.x(n)]


@case
def whole_product(d: Draw) -> Built:
    """Products of integers, which have loops of their own."""
    m, n, k = d.sizes(3, WORK / 20)
    k = min(k, 30)  # within int8
    return taeda.mm, np.matmul, [d.rng.integers(0, 2, (m, k)), d.rng.integers(0, 5, (k, n))]


@case
def complex_product(d: Draw) -> Built:
    m, n, k = d.sizes(3, WORK / 20)
    return taeda.mm, np.matmul, [d.x(m, k) + 1j * d.x(m, k), d.x(k, n) + 1j * d.x(k, n)]


# ---- convolutions: sums over the places of the kernel ----


def _taps(x: Any, kernel: tuple[int, ...], stride: int, padding: int, dilation: int) -> Any:
    """(place in the kernel, what it meets) of a padded input."""
    rank = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * rank)
    out = [(x.shape[2 + i] - dilation * (kernel[i] - 1) - 1) // stride + 1 for i in range(rank)]
    for place in np.ndindex(*kernel):
        first = [dilation * p for p in place]
        cut = tuple(
            slice(f, f + stride * (o - 1) + 1, stride) for f, o in zip(first, out, strict=True)
        )
        yield place, x[(slice(None), slice(None), *cut)]


def _convolve(x: Any, w: Any, b: Any, stride: int, padding: int, dilation: int, groups: int) -> Any:
    each, made = w.shape[0] // groups, 0.0
    for place, met in _taps(x, w.shape[2:], stride, padding, dilation):
        met = met.reshape(met.shape[0], groups, -1, *met.shape[2:])
        weight = w[(..., *place)].reshape(groups, each, -1)
        made = made + np.einsum("goc,ngc...->ngo...", weight, met)
    return made.reshape(x.shape[0], w.shape[0], *made.shape[3:]) + b.reshape(
        -1, *[1] * (x.ndim - 2)
    )


def _conv(d: Draw, rank: int) -> Built:
    groups = d.one(1, 1, 1, 2, 3, 16)
    depthwise = groups == 16
    kernel = [d.one(1, 2, 3, 3, 3, 5) for _ in range(rank)]
    stride, dilation, padding = d.one(1, 1, 2, 3), d.one(1, 1, 1, 2), d.one(0, 1, 1, 2)
    channels = groups * (1 if depthwise else d.size(70))
    outputs = groups * (d.one(1, 2) if depthwise else d.size(70))
    left = WORK / max(1, channels * outputs // groups) / np.prod(kernel) * stride**rank
    images = d.size(9)
    space = [
        max(s, dilation * (k - 1) + 1)
        for s, k in zip(d.sizes(rank, max(left / images, 4), 300), kernel, strict=True)
    ]
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}

    def call(x: Any, w: Any, b: Any) -> Any:
        return getattr(F, f"conv{rank}d")(x, w, b, **settings)

    def reference(x: Any, w: Any, b: Any) -> Any:
        return _convolve(x, w, b, **settings)

    operands = [
        d.x(images, channels, *space),
        d.x(outputs, channels // groups, *kernel),
        d.x(outputs),
    ]
    return call, reference, operands


@case
def conv1d(d: Draw) -> Built:
    return _conv(d, 1)


@case
def conv2d(d: Draw) -> Built:
    return _conv(d, 2)


@case
def conv3d(d: Draw) -> Built:
    return _conv(d, 3)


@case
def winograd(d: Draw) -> Built:
    """3 x 3 of stride 1 between many channels goes a way of its own."""
    channels, outputs = 16 + d.size(40), 16 + d.size(40)
    h, w = 8 + d.size(50), 8 + d.size(50)
    images, padding = d.one(1, 2, 5, 17) if h * w < 900 else 1, d.one(0, 1)

    def call(x: Any, weight: Any, b: Any) -> Any:
        return F.conv2d(x, weight, b, padding=padding)

    def reference(x: Any, weight: Any, b: Any) -> Any:
        return _convolve(x, weight, b, 1, padding, 1, 1)

    return (
        call,
        reference,
        [d.x(images, channels, h, w), d.x(outputs, channels, 3, 3), d.x(outputs)],
    )


@case
def conv_transpose2d(d: Draw) -> Built:
    inputs, outputs, k, stride = d.size(40), d.size(40), d.one(1, 2, 3), d.one(1, 2, 3)
    h, w = d.sizes(2, WORK / inputs / outputs / k**2 / 4, 90)

    def call(x: Any, weight: Any) -> Any:
        return F.conv_transpose2d(x, weight, stride=stride)

    def reference(x: Any, weight: Any) -> Any:
        made = np.zeros((2, outputs, (h - 1) * stride + k, (w - 1) * stride + k))
        for i, j in np.ndindex(k, k):
            part = np.einsum("nchw,co->nohw", x, weight[:, :, i, j])
            made[
                :, :, i : i + stride * (h - 1) + 1 : stride, j : j + stride * (w - 1) + 1 : stride
            ] += part
        return made

    return call, reference, [d.x(2, inputs, h, w), d.x(inputs, outputs, k, k)]


# ---- attention and recurrence ----


def _softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@case
def attention(d: Draw) -> Built:
    batch, heads, width = d.size(4), d.size(5), d.size(140)
    queries, keys = d.sizes(2, WORK / batch / heads / width / 4)
    causal = d.one(True, False)
    hidden = np.triu(np.full((queries, keys), -np.inf), 1) if causal else 0.0

    def call(q: Any, k: Any, v: Any) -> Any:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)

    def reference(q: Any, k: Any, v: Any) -> Any:
        scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(width) + hidden
        return _softmax(scores) @ v

    operands = [d.x(batch, heads, queries, width), d.x(batch, heads, keys, width)]
    return call, reference, [*operands, d.x(batch, heads, keys, d.one(width, width, d.size(70)))]


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _recurrent(d: Draw, kind: str, gates: int, step: Callable[..., Any]) -> Built:
    steps, batch, inputs, width = d.size(12), d.size(40), d.size(80), d.size(150)
    bound = 1 / np.sqrt(width)

    def call(x: Any, w: Any, u: Any, b: Any, c: Any) -> Any:
        layer = getattr(taeda.nn, kind)(inputs, width, dtype=x.dtype)
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        parameters = dict(zip(names, (w, u, b, c), strict=True))
        return taeda.func.functional_call(layer, parameters, (x,))[0]

    def reference(x: Any, w: Any, u: Any, b: Any, c: Any) -> Any:
        h = cell = np.zeros((batch, width))
        made = []
        for t in range(steps):
            h, cell = step(x[t] @ w.T + b, h @ u.T + c, h, cell)
            made.append(h)
        return np.stack(made)

    weights = [d.x(gates * width, inputs) * bound, d.x(gates * width, width) * bound]
    return (
        call,
        reference,
        [d.x(steps, batch, inputs), *weights, d.x(gates * width), d.x(gates * width)],
    )


@case
def lstm(d: Draw) -> Built:
    def step(a: Any, r: Any, h: Any, cell: Any) -> Any:
        i, f, g, o = np.split(a + r, 4, -1)
        cell = _sigmoid(f) * cell + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(cell), cell

    return _recurrent(d, "LSTM", 4, step)


@case
def gru(d: Draw) -> Built:
    def step(a: Any, r: Any, h: Any, cell: Any) -> Any:
        (ar, az, an), (rr, rz, rn) = np.split(a, 3, -1), np.split(r, 3, -1)
        z = _sigmoid(az + rz)
        return (1 - z) * np.tanh(an + _sigmoid(ar + rr) * rn) + z * h, cell

    return _recurrent(d, "GRU", 3, step)


@case
def rnn(d: Draw) -> Built:
    return _recurrent(d, "RNN", 1, lambda a, r, h, cell: (np.tanh(a + r), cell))


# ---- norms ----


def _normal(x: Any, axes: Any, eps: float = 1e-5) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@case
def layer_norm(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 50)
    n += 7  # the derivative of a norm of few numbers is steep
    return (
        (lambda x, w, b: F.layer_norm(x, (n,), w, b)),
        (lambda x, w, b: _normal(x, -1) * w + b),
        [d.x(m, n), d.x(n), d.x(n)],
    )


@case
def rms_norm(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 50)
    eps = 1e-5

    def reference(x: Any, w: Any) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * w

    return (lambda x, w: F.rms_norm(x, (n,), w, eps)), reference, [d.x(m, n), d.x(n)]


@case
def batch_norm(d: Draw) -> Built:
    n, c, space = d.sizes(3, WORK / 50)
    n += 7
    shape = d.one((n, c), (n, c, space))
    axes = (0,) if len(shape) == 2 else (0, 2)

    def reference(x: Any, w: Any, b: Any) -> Any:
        wide = (1, c) + (1,) * (x.ndim - 2)
        return _normal(x, axes) * w.reshape(wide) + b.reshape(wide)

    return (
        (lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
        reference,
        [d.x(*shape), d.x(c), d.x(c)],
    )


@case
def group_norm(d: Draw) -> Built:
    groups, each = d.one(1, 2, 3, 8), d.size(30)
    n, space = d.sizes(2, WORK / 50 / groups / each)
    space += 7
    c = groups * each

    def reference(x: Any, w: Any, b: Any) -> Any:
        y = _normal(x.reshape(n, groups, -1), -1).reshape(x.shape)
        return y * w[:, None] + b[:, None]

    return (
        (lambda x, w, b: F.group_norm(x, groups, w, b)),
        reference,
        [d.x(n, c, space), d.x(c), d.x(c)],
    )


# ---- reductions, softmax, losses ----


def _over(name: str, reference: Callable[..., Any], high: float = WORK / 40) -> None:
    """An operation along one dimension of three."""

    def build(d: Draw) -> Built:
        shape, dim = d.sizes(3, high), d.random.randrange(3)
        function = getattr(taeda, name)
        return (lambda x: function(x, dim)), (lambda x: reference(x, dim)), [d.x(*shape)]

    CASES[name] = build


def _log_sum(x: Any, axis: int) -> Any:
    return np.log(np.exp(x).sum(axis))


_over("softmax", _softmax)
_over("log_softmax", lambda x, axis: x - np.expand_dims(_log_sum(x, axis), axis))
_over("logsumexp", _log_sum)
_over("sum", np.sum)
_over("mean", np.mean)
_over("amax", np.max)
_over("cumsum", np.cumsum)
_over("logcumsumexp", lambda x, axis: np.log(np.cumsum(np.exp(x), axis)))
_over("norm_of_rows", lambda x, axis: np.sqrt((x * x).sum(axis))) if hasattr(
    taeda, "norm_of_rows"
) else None


@case
def sorted_values(d: Draw) -> Built:
    shape, dim = d.sizes(3, WORK / 200), d.random.randrange(3)
    return (lambda x: taeda.sort(x, dim).values), (lambda x: np.sort(x, dim)), [d.x(*shape)]


@case
def topk(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 100)
    k = d.random.randint(1, n)
    return (lambda x: taeda.topk(x, k).values), (lambda x: -np.sort(-x, -1)[:, :k]), [d.x(m, n)]


@case
def median(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 100)
    return (
        (lambda x: taeda.median(x, 1).values),
        (lambda x: np.sort(x, 1)[:, (n - 1) // 2]),
        [d.x(m, n)],
    )


@case
def variance(d: Draw) -> Built:
    shape, dim = d.sizes(3, WORK / 50), d.random.randrange(3)
    return (lambda x: taeda.var(x, dim, correction=0)), (lambda x: np.var(x, dim)), [d.x(*shape)]


@case
def cross_entropy(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 50)
    target = d.rng.integers(0, n, m)

    def reference(x: Any) -> Any:
        return np.mean(_log_sum(x, 1) - x[np.arange(m), target])

    return (lambda x: F.cross_entropy(x, taeda.from_numpy(target))), reference, [d.x(m, n)]


# ---- Fourier transforms ----


@case
def fft_pair(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 100)

    def call(x: Any, y: Any) -> Any:
        return taeda.view_as_real(taeda.fft.fft(taeda.complex(x, y)))

    def reference(x: Any, y: Any) -> Any:
        z = np.fft.fft(x + 1j * y)
        return np.stack([z.real, z.imag], -1)

    return call, reference, [d.x(m, n), d.x(m, n)]


@case
def rfft2(d: Draw) -> Built:
    b, m, n = d.sizes(3, WORK / 100)

    def reference(x: Any) -> Any:
        z = np.fft.rfft2(x)
        return np.stack([z.real, z.imag], -1)

    return (lambda x: taeda.view_as_real(taeda.fft.rfft2(x))), reference, [d.x(b, m, n)]


@case
def irfft(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 100)

    def call(x: Any, y: Any) -> Any:
        return taeda.fft.irfft(taeda.complex(x, y), n)

    half = n // 2 + 1
    return call, (lambda x, y: np.fft.irfft(x + 1j * y, n)), [d.x(m, half), d.x(m, half)]


# ---- pooling and resampling ----


def _pooling(d: Draw) -> tuple[list[int], int, int]:
    n, c = d.size(4), d.size(40)
    h, w = d.sizes(2, WORK / 40 / n / c / 9, 300)
    return [n, c, h + 2, w + 2], d.one(1, 2, 3), d.one(1, 2, 3)


@case
def max_pool2d(d: Draw) -> Built:
    shape, k, stride = _pooling(d)

    def reference(x: Any) -> Any:
        return np.max([met for _, met in _taps(x, (k, k), stride, 0, 1)], 0)

    return (lambda x: F.max_pool2d(x, k, stride)), reference, [d.x(*shape)]


@case
def avg_pool2d(d: Draw) -> Built:
    shape, k, stride = _pooling(d)

    def reference(x: Any) -> Any:
        return np.mean([met for _, met in _taps(x, (k, k), stride, 0, 1)], 0)

    return (lambda x: F.avg_pool2d(x, k, stride)), reference, [d.x(*shape)]


def _linear_weights(inputs: int, outputs: int) -> Any:
    """Row o has the weights of the inputs that output o lies between."""
    at = np.maximum((np.arange(outputs) + 0.5) * inputs / outputs - 0.5, 0)
    low = np.minimum(at.astype(int), inputs - 1)
    high = np.minimum(low + 1, inputs - 1)
    made = np.zeros((outputs, inputs))
    np.add.at(made, (np.arange(outputs), low), 1 - (at - low))
    np.add.at(made, (np.arange(outputs), high), at - low)
    return made


@case
def bilinear(d: Draw) -> Built:
    n, c = d.size(3), d.size(9)
    h, w, oh, ow = d.sizes(4, 4e6, 200)
    rows, columns = _linear_weights(h, oh), _linear_weights(w, ow)

    def call(x: Any) -> Any:
        return F.interpolate(x, (oh, ow), mode="bilinear")

    return (
        call,
        (lambda x: np.einsum("nchw,ah,bw->ncab", x, rows, columns, optimize=True)),
        [d.x(n, c, h, w)],
    )


# ---- places ----


@case
def gather(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 50)
    where = d.rng.integers(0, n, (m, d.size(200)))
    index = taeda.from_numpy(where)
    return (
        (lambda x: taeda.gather(x, 1, index)),
        (lambda x: np.take_along_axis(x, where, 1)),
        [d.x(m, n)],
    )


@case
def embedding(d: Draw) -> Built:
    rows, width = d.sizes(2, WORK / 100)
    where = d.rng.integers(0, rows, (d.size(40), d.size(30)))
    index = taeda.from_numpy(where)
    return (lambda w: F.embedding(index, w)), (lambda w: w[where]), [d.x(rows, width)]


@case
def index_add(d: Draw) -> Built:
    m, n = d.sizes(2, WORK / 100)
    count = d.size(min(300, int(WORK / 100 / n)))
    where = d.rng.integers(0, m, count)
    index = taeda.from_numpy(where)

    def reference(x: Any, y: Any) -> Any:
        made = x.copy()
        np.add.at(made, where, y)
        return made

    return (lambda x, y: taeda.index_add(x, 0, index, y)), reference, [d.x(m, n), d.x(count, n)]


# ---- linear algebra: what is solved is put back ----


@case
def solve(d: Draw) -> Built:
    n = d.size(160)
    k = d.size(60)
    regular = d.x(n, n) / np.sqrt(n) + 3 * np.eye(n)
    return taeda.linalg.solve, np.linalg.solve, [regular, d.x(n, k)]


@case
def inverse(d: Draw) -> Built:
    n = d.size(200)
    return taeda.linalg.inv, np.linalg.inv, [d.x(n, n) / np.sqrt(n) + 3 * np.eye(n)]


@case
def cholesky(d: Draw) -> Built:
    n = d.size(200)
    a = d.x(n, n) / np.sqrt(n)

    def call(x: Any) -> Any:
        return taeda.linalg.cholesky(x @ x.mT + 2 * taeda.eye(n, dtype=x.dtype))

    return call, (lambda x: np.linalg.cholesky(x @ x.T + 2 * np.eye(n))), [a]


@case
def eigenvalues(d: Draw) -> Built:
    n = d.size(150)
    return (
        (lambda x: taeda.linalg.eigvalsh(x + x.mT)),
        (lambda x: np.linalg.eigvalsh(x + x.T)),
        [d.x(n, n)],
    )


@case
def singular_values(d: Draw) -> Built:
    m, n = d.sizes(2, 20_000)
    return taeda.linalg.svdvals, (lambda x: np.linalg.svd(x, compute_uv=False)), [d.x(m, n)]


@case
def qr_product(d: Draw) -> Built:
    m, n = d.sizes(2, 30_000)

    def call(x: Any) -> Any:
        q, r = taeda.linalg.qr(x)
        return q @ r

    return call, lambda x: x, [d.x(m, n)]


# ---- element by element ----


@case
def broadcast(d: Draw) -> Built:
    a, b, c = d.sizes(3, WORK / 40)
    return (
        (lambda x, y, z: x * y + z.exp()),
        (lambda x, y, z: x * y + np.exp(z)),
        [d.x(a, 1, c), d.x(b, 1), d.x(a, b, 1)],
    )


_EXACT = ("float32", "float64")
#: dtypes of those that are not for every real dtype
DTYPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("lstm", "gru", "rnn", "fft_pair", "rfft2", "irfft", "logcumsumexp"), _EXACT),
    **dict.fromkeys(
        ("solve", "inverse", "cholesky", "eigenvalues", "singular_values", "qr_product"), _EXACT
    ),
    "whole_product": ("int64", "int32", "uint8", "int8"),
    "complex_product": ("complex64", "complex128"),
}
#: no derivative, or none by a difference quotient: ties, near-equal values, integers
FLAT = {
    *("whole_product", "complex_product", "eigenvalues", "singular_values", "qr_product", "amax"),
    *("max_pool2d", "topk", "median", "sorted_values"),
}
