"""Expressions of the array API standard, which numpy and `taeda.array_api` are asked alike; by the
module that defines what they call.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes  # noqa: F401 - numpy knows its dtypes then, as it does for users
import numpy as np
import pytest

import taeda
from taeda import array_api

__all__ = ["cases_of", "check", "elsewhere", "plain_of"]

REAL = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMERIC = [*INTEGERS, *REAL, *COMPLEX]
EVERY = ["bool", *NUMERIC]

# {dtypes: expressions}; x is (2, 3), y (3), p positive, z has no axes, i int64 places, b is bool
TABLE = {
    "EVERY": """xp.zeros_like(x) ; xp.ones_like(x, dtype=xp.float32) ; xp.full_like(x, 1)
        xp.tril(x) ; xp.triu(x, k=1) ; xp.astype(x, xp.complex128)
        xp.broadcast_to(y, (2, 3)) ; xp.broadcast_arrays(x, y)[1] ; xp.concat([x, x], axis=1)
        xp.concat([x, y], axis=None) ; xp.stack([y, y], axis=-1)
        xp.expand_dims(x, axis=1) ; xp.squeeze(x[:1, :], axis=0) ; xp.flip(x)
        xp.flip(x, axis=-1) ; xp.flip(x, axis=(0, 1)) ; xp.matrix_transpose(x)
        xp.moveaxis(x, 0, -1) ; xp.permute_dims(x, (1, 0)) ; xp.repeat(x, 2)
        xp.repeat(x, 2, axis=1) ; xp.reshape(x, (3, 2)) ; xp.reshape(x, (-1,), copy=True)
        xp.roll(x, 1) ; xp.roll(x, (1, -1), axis=(0, 1)) ; xp.roll(x, 1, axis=(0, 1))
        xp.tile(x, (2, 1)) ; xp.unstack(x)[1] ; xp.unstack(x, axis=1)[2]
        xp.take(y, i) ; xp.take(x, i, axis=1) ; xp.take_along_axis(x, i[None, :], axis=1)
        xp.where(b, x, y) ; xp.nonzero(y)[0] ; xp.count_nonzero(x)
        xp.count_nonzero(x, axis=0, keepdims=True) ; xp.all(x) ; xp.any(x, axis=1)
        xp.all(x, axis=(0, 1), keepdims=True) ; xp.any(x, axis=())
        xp.equal(x, y) ; xp.not_equal(x, y) ; xp.isin(x, y[1:]) ; xp.isin(x, y[:0])
        xp.isin(x, p, invert=True) ; xp.broadcast_arrays(x, y)[0]
        xp.expand_dims(x, axis=(0, -1)) ; xp.expand_dims(x, axis=(3, 1)) ; xp.expand_dims(x, axis=())
        xp.asarray(x, copy=True) ; xp.isdtype(x.dtype, 'numeric')
        xp.can_cast(x.dtype, xp.float64) ; xp.astype(x, xp.bool) ; xp.linalg.diagonal(x, offset=1)
        xp.cumulative_sum(y) if x.dtype != xp.bool else 0""",
    "NUMERIC": """xp.add(x, y) ; xp.subtract(x, y) ; xp.multiply(x, 2) ; xp.add(1, y) ; xp.sum(x)
        xp.sum(x, axis=0) ; xp.sum(x, axis=(0, 1), keepdims=True) ; xp.sum(x, axis=())
        xp.prod(x) ; xp.prod(x, axis=1) ; xp.prod(x, axis=(0, 1), keepdims=True)
        xp.sum(x, dtype=xp.float64) if not xp.isdtype(x.dtype, 'complex floating') else 0
        xp.cumulative_sum(x, axis=1) ; xp.cumulative_sum(y, include_initial=True)
        xp.cumulative_prod(x, axis=0, include_initial=True) ; xp.positive(x)
        xp.square(x) ; xp.matmul(x, x.T) ; xp.vecdot(x, y) ; xp.tensordot(x, y, axes=1)
        xp.tensordot(x, x, axes=([0], [0])) ; xp.linalg.outer(y, y) ; xp.linalg.trace(x)
        xp.abs(p)
        xp.diff(y) ; xp.diff(x, axis=0) ; xp.diff(y, n=2, prepend=y[:1], append=y[-1:])
            xp.sign(x) ; xp.pow(x, xp.astype(p, x.dtype))
            xp.linalg.cross(x, xp.stack([y, y]))""",
    "ORDERED": """xp.sort(xp.unique_values(y)) ; xp.unique_counts(x).counts
        xp.unique_inverse(x).inverse_indices ; xp.unique_all(x).indices ; xp.max(x)
        xp.min(x, axis=1) ; xp.max(x, axis=(0, 1), keepdims=True) ; xp.min(x, axis=())
        xp.argmax(x) ; xp.argmin(x, axis=1, keepdims=True) ; xp.argmax(x, keepdims=True)
        xp.sort(x) ; xp.sort(x, axis=0) ; xp.argsort(x, axis=1, stable=True)
        xp.searchsorted(xp.sort(y), 1) ; xp.isin(x, 1) ; xp.isin(1, x)
        xp.isin(y, 2, invert=True) ; xp.maximum(x, y) ; xp.minimum(x, 1) ; xp.clip(x, 1, 2)
        xp.clip(x, min=1) ; xp.less(x, y)
        xp.greater_equal(x, 1) ; xp.less_equal(x, y) ; xp.greater(x, y)
        xp.searchsorted(xp.sort(y), x) ; xp.searchsorted(xp.sort(y), y, side='right')
        xp.floor(x) ; xp.ceil(x) ; xp.trunc(x) ; xp.round(x)
        xp.remainder(x, p) ; xp.floor_divide(x, p)""",
    "INTEGERS": """xp.bitwise_and(x, y) ; xp.bitwise_or(x, 1) ; xp.bitwise_xor(x, y)
        xp.bitwise_invert(x) ; xp.bitwise_left_shift(x, p) ; xp.bitwise_right_shift(x, 1)
        xp.iinfo(x.dtype).max""",
    "FLOATING": """xp.exp(x) ; xp.expm1(x) ; xp.log(p) ; xp.log1p(p) ; xp.log2(p) ; xp.log10(p)
        xp.sqrt(p) ; xp.sin(x) ; xp.cos(x) ; xp.tan(x) ; xp.sinh(x) ; xp.cosh(x) ; xp.tanh(x)
        xp.asinh(x)
        xp.atan(x) ; xp.divide(x, p) ; xp.reciprocal(p) ; xp.isnan(x) ; xp.isinf(x)
        xp.isfinite(x) ; xp.linalg.det(m) ; xp.linalg.inv(m) ; xp.linalg.solve(m, y)
        xp.linalg.svdvals(x) ; xp.linalg.qr(m).R * 0
        xp.linalg.matrix_norm(x) ; xp.linalg.vector_norm(x)
        xp.linalg.vector_norm(x, axis=1, ord=1, keepdims=True) ; xp.linalg.pinv(x)
        xp.linalg.matrix_rank(x) ; xp.linalg.slogdet(m).logabsdet
        xp.linalg.matrix_power(m, 3) ; xp.mean(x) ; xp.mean(x, axis=0, keepdims=True)
        xp.finfo(x.dtype).bits ; xp.finfo(x.dtype).eps ; xp.fft.fft(x) ; xp.fft.ifft(x, axis=0)
        xp.fft.fftn(x)
        xp.linalg.eigvals(m).shape ; abs(xp.sum(xp.linalg.eigvals(m)) - xp.linalg.trace(m)) < 1e-3
        xp.linalg.eig(m).eigenvectors.shape ; str(xp.linalg.eigvals(m).dtype).split('.')[-1][:7]
        xp.fft.fftshift(x) ; xp.fft.ifftshift(x, axes=(1,)) ; xp.fft.hfft(x, axis=0)""",
    "REAL": """xp.var(x) ; xp.var(x, axis=1, correction=1.0)
        xp.std(x, axis=(0, 1), keepdims=True) ; xp.atan2(x, y) ; xp.hypot(x, y)
        xp.copysign(x, y) ; xp.nextafter(x, y) ; xp.logaddexp(x, y) ; xp.signbit(x)
        xp.acos(x / 9) ; xp.asin(x / 9) ; xp.acosh(p) ; xp.atanh(x / 9) ; xp.fft.rfft(x)
        xp.fft.irfft(x) ; xp.fft.rfftn(x, axes=(0, 1)) ; xp.linalg.eigvalsh(m @ m.T)
        xp.linalg.cholesky(m @ m.T)
        xp.linalg.cholesky(m @ m.T, upper=True)""",
    "COMPLEX": "xp.real(x) ; xp.imag(x) ; xp.conj(x) ; xp.abs(x) ; xp.vecdot(x, xp.conj(x))",
}
DTYPES = {
    "EVERY": EVERY, "NUMERIC": NUMERIC, "ORDERED": INTEGERS + REAL, "INTEGERS": INTEGERS,
    "FLOATING": REAL + COMPLEX,
    "REAL": REAL, "COMPLEX": COMPLEX,
}  # fmt: skip
PLAIN = """xp.arange(5) ; xp.arange(1, 4, dtype=xp.float32) ; xp.arange(3, 0, -1) ; xp.arange(0)
xp.arange(5, 0) ; xp.eye(2) ; xp.eye(2, 3, k=1) ; xp.eye(3, k=-5) ; xp.zeros(3)
xp.ones((2, 1), dtype=xp.bool)
xp.full((2,), 3) ; xp.full(2, True) ; xp.full((), 1.5, dtype=xp.float64)
xp.linspace(0, 1, 3, dtype=xp.float64)
xp.linspace(0.0, 1.0, 4, endpoint=False, dtype=xp.float64)
xp.meshgrid(xp.arange(2), xp.arange(3))[0]
xp.meshgrid(xp.arange(2), xp.arange(3), indexing='ij')[1]
xp.asarray([1, 2]) ; xp.asarray(True) ; xp.asarray([[1.5]], dtype=xp.float64)
xp.isdtype(xp.int8, ('integral', xp.bool)) ; xp.isdtype(xp.uint8, 'signed integer')
xp.broadcast_shapes((2, 1), (3,)) ; xp.broadcast_shapes() ; xp.broadcast_shapes((5,), (), (4, 1))
xp.pi ; xp.newaxis is None ; xp.fft.fftfreq(5, d=0.5) ; xp.fft.rfftfreq(4)
xp.add(xp.ones(2, dtype=xp.int8), xp.ones((), dtype=xp.int32))
xp.multiply(xp.ones(2, dtype=xp.float32), xp.ones((), dtype=xp.float64))
xp.result_type(xp.ones(2, dtype=xp.uint8), xp.int16) == xp.int16
xp.add(xp.ones(2, dtype=xp.uint8), 1)
xp.bitwise_or(xp.ones(2, dtype=xp.bool), xp.zeros(2, dtype=xp.bool))
xp.logical_and(xp.ones(2, dtype=xp.bool), xp.asarray(False))
xp.logical_not(xp.asarray([True, False])) ; xp.logical_xor(xp.asarray(True), xp.asarray(True))
xp.logical_or(xp.asarray(True), xp.asarray(False))"""

CASES = [
    (dtype, text.strip())
    for group, table in TABLE.items()
    for line in table.splitlines()
    for text in line.split(" ; ")
    for dtype in DTYPES[group]
]


def arrays(dtype: str) -> dict[str, Any]:
    """The named arrays, under numpy."""
    rng = np.random.default_rng(0)
    x = rng.integers(0 if dtype[0] in "ub" else -3, 4, (2, 3))
    y, p = rng.integers(0 if dtype[0] in "ub" else -3, 4, 3), rng.integers(1, 4, (2, 3))
    m = rng.integers(-3, 4, (3, 3)) + 6 * np.eye(3)
    made = {"x": x, "y": y, "p": p, "m": m}
    if dtype.startswith("complex"):
        made = {name: a + 0.5j * rng.integers(-2, 3, a.shape) for name, a in made.items()}
    made = {name: np.asarray(a).astype(dtype) for name, a in made.items()}
    return {**made, "i": np.array([2, 0, 1]), "b": np.array([[True, False, True]])}


def compare(text: str, given: dict[str, Any], name: str | None) -> None:
    """The expression gives with taeda what it gives with numpy: shape, dtype and values."""
    theirs = eval(text, {"xp": np, **given})
    ours = eval(
        text, {"xp": array_api, **{k: taeda.from_numpy(v.copy()) for k, v in given.items()}}
    )
    if isinstance(ours, taeda.Tensor):
        theirs = np.asarray(theirs)
        assert tuple(ours.shape) == theirs.shape
        if name is not None or not str(theirs.dtype).startswith(("float", "complex")):
            assert str(ours.dtype).removeprefix("taeda.") == str(theirs.dtype)
        exact = theirs.dtype.kind in "biu"
        rough = 2e-4 if name in ("float32", "complex64") else 1e-6 if name is None else 1e-10
        np.testing.assert_allclose(
            ours.numpy(), theirs, 0 if exact else rough, 0 if exact else rough
        )
    else:
        assert ours == theirs


NOT_OF_UINT64 = ("xp.remainder", "xp.floor_divide", "xp.minimum", "xp.maximum", "xp.clip",
    "xp.bitwise_right_shift")  # fmt: skip


def check(dtype: str | None, text: str) -> None:
    """One expression; no dtype for those that begin with nothing."""
    if dtype == "uint64" and text.startswith(NOT_OF_UINT64):
        with pytest.raises(NotImplementedError):
            compare(text, arrays(dtype), dtype)
        return
    compare(text, {} if dtype is None else arrays(dtype), dtype)


MODULES = (
    "creation",
    "dtypes",
    "elementwise",
    "manipulation",
    "reduction",
    "searching",
    "fft",
    "linalg",
)


def _module(text: str) -> str:
    """The module of the first function that an expression calls; "" for those of no module here."""
    import importlib

    first = re.search(r"xp\.(\w+)(\.\w+)?", text)
    name = first[1] if first else ""
    if name in ("fft", "linalg"):
        return name
    for module in MODULES:
        private = module if module in ("fft", "linalg") else f"_{module}"
        if name in importlib.import_module(f"taeda.array_api.{private}").__all__:
            return module
    return ""


def cases_of(module: str) -> list[tuple[str, str]]:
    """(dtype, expression) of what a module defines."""
    return [case for case in CASES if _module(case[1]) == module]


def plain_of(module: str) -> list[tuple[None, str]]:
    """Expressions that begin with nothing."""
    every = [t.strip() for line in PLAIN.splitlines() for t in line.split(" ; ")]
    return [(None, text) for text in every if _module(text) == module]


def elsewhere() -> list[tuple[str | None, str]]:
    """Those that call what no module here defines."""
    return [*cases_of(""), *plain_of("")]
