"""Elementwise functions that have no device text, by CuPy's own kernels: special functions, and
those of complex numbers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["ROWS"]

#: the names of `cupyx.scipy.special` by those of the rows
NAMES = {
    **{name: name for name in ("i0", "i0e", "i1", "i1e", "erfcx", "erfinv", "ndtr", "ndtri")},
    **{name: name for name in ("log_ndtr", "entr", "zeta")},
    "lgamma": "gammaln",
    "digamma": "psi",
    "igamma": "gammainc",
    "igammac": "gammaincc",
    "bessel_j0": "j0",
    "bessel_j1": "j1",
    "bessel_y0": "y0",
    "bessel_y1": "y1",
    "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1",
    "modified_bessel_k0": "k0",
    "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e",
    "scaled_modified_bessel_k1": "k1e",
}


#: the names of `cupy` by those of the rows: they come here for complex numbers
COMPLEX = {
    **{name: name for name in ("abs", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt")},
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "square")},
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "_conj_physical": "conj",
}


def _of_complex(name: str) -> Callable[..., None]:
    def row(cupy: Any, out: list[Any], x: Any) -> None:
        out[0][...] = getattr(cupy, name)(x)

    return row


def _by_name(name: str) -> Callable[..., None]:
    def row(cupy: Any, out: list[Any], *arguments: Any) -> None:
        function = getattr(importlib.import_module("cupyx.scipy.special"), name)
        # operands in the dtype of the result, as the processor computes
        numbers = (a.astype(out[0].dtype) if hasattr(a, "astype") else a for a in arguments)
        out[0][...] = function(*numbers)

    return row


def _sinc(cupy: Any, out: list[Any], x: Any) -> None:
    out[0][...] = cupy.sinc(x.astype(out[0].dtype))


def _angle(cupy: Any, out: list[Any], x: Any) -> None:
    out[0][...] = (
        cupy.where(cupy.isnan(x), x, cupy.angle(x)) if x.dtype.kind == "f" else cupy.angle(x)
    )


def _polygamma(cupy: Any, out: list[Any], n: int, x: Any) -> None:
    polygamma = importlib.import_module("cupyx.scipy.special").polygamma
    out[0][...] = polygamma(n, x.astype(out[0].dtype))


def _frexp(cupy: Any, out: list[Any], x: Any) -> None:
    out[0][...], out[1][...] = cupy.frexp(x)


ROWS = {
    **{row: _by_name(name) for row, name in NAMES.items()},
    **{row: _of_complex(name) for row, name in COMPLEX.items()},
    "sinc": _sinc,
    "angle": _angle,
    "frexp": _frexp,
    "polygamma": _polygamma,
}
