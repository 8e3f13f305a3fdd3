"""How tensors print: one column format for all numbers of a tensor, edges only when it is large.

Knows tensors only through their shape, dtype and `tolist()`; the numbers are formatted by Python.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import taeda

from .._layers import NAMES, DisableTorchFunction, hidden
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor

__all__ = ["get_printoptions", "printoptions", "set_printoptions", "tensor_format", "tensor_repr"]


@dataclass(frozen=True)
class Options:
    """What `set_printoptions` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}
_options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Say how tensors print, for the whole process. None leaves an option as it is, but for `sci_mode`.

    Args:
        precision: the number of digits after the point, at least 0: 4 at the start; None leaves
            it.
        threshold: of a tensor with more elements than this only the ends are shown: 1000 at the
            start; float("inf") shows all, None leaves it.
        edgeitems: how many elements at each end of a dimension are then shown: 3 at the start;
            None leaves it.
        linewidth: the number of columns after which a line is broken: 80 at the start; None
            leaves it.
        profile: "default", "short" or "full": options to begin with, which the others then
            change; None for those of now. ValueError for another word.
        sci_mode: whether numbers are in scientific notation; None, also when left out, lets every
            tensor decide.

    >>> taeda.set_printoptions(precision=1)
    >>> taeda.tensor([1.25, 3.0])
    tensor([1.2, 3.0])
    >>> taeda.set_printoptions(profile="default")
    """
    global _options
    if profile is not None and profile not in _PROFILES:
        raise ValueError(f"profile must be one of {sorted(_PROFILES)}, got {profile!r}")
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        if value is not None and (not isinstance(value, (int, float)) or value < 0):
            raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
    base = _options if profile is None else _PROFILES[profile]
    changes: dict[str, Any] = {name: v for name, v in given.items() if v is not None}
    _options = replace(base, **changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """The options in force, by name."""
    return asdict(_options)


@contextlib.contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with other options inside a `with` block."""
    global _options
    before = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = before


# ---- one number ----


class _Column:
    """The format that all `values` share: fixed point, scientific, or integers with a point."""

    def __init__(self, values: list[float], options: Options) -> None:
        self.precision = options.precision
        self.width = 1
        finite = [abs(v) for v in values if v != 0 and math.isfinite(v)]
        self.integral = all(v == math.ceil(v) for v in finite)
        self.scientific = False
        if not finite:
            return
        largest, smallest = max(finite), min(finite)
        self.scientific = largest / smallest > 1000.0 or largest > 1.0e8
        if not self.integral:
            self.scientific = self.scientific or smallest < 1.0e-4
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        shown = [v for v in values if v != 0 and math.isfinite(v)]
        self.width = max(len(self._plain(v)) for v in shown)

    def _plain(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{self.precision}e}"
        if self.integral:
            return f"{value:.0f}" + ("." if math.isfinite(value) else "")
        return f"{value:.{self.precision}f}"

    def __call__(self, value: float) -> str:
        return self._plain(value).rjust(self.width)


class _IntegerColumn:
    """Integers and truth values, as Python writes them."""

    def __init__(self, values: list[Any]) -> None:
        self.width = max((len(str(v)) for v in values), default=1)

    def __call__(self, value: Any) -> str:
        return str(value).rjust(self.width)


class _ComplexColumn:
    """Real and imaginary parts, each with a format of its own."""

    def __init__(self, values: list[complex], options: Options) -> None:
        self.real = _Column([v.real for v in values], options)
        self.imag = _Column([v.imag for v in values], options)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = (self.imag(value.imag) + "j").lstrip()
        sign = "" if imag[0] in "+-" else "+"
        return self.real(value.real) + sign + imag


# ---- all numbers of a tensor ----


class _Gap:
    """Stands where elements were left out."""


_GAP = _Gap()


def _shown(tensor: Tensor, edge: int) -> Any:
    """Nested lists of the elements, only `edge` of them at each end of every dimension."""
    if tensor.ndim == 0 or tensor.numel() == 0:
        return tensor.tolist()
    if all(size <= 2 * edge for size in tensor.shape):
        return tensor.tolist()
    size = tensor.shape[0]
    if size <= 2 * edge:
        picked = [*range(size)]
    else:
        picked = [*range(edge), *range(size - edge, size)]
    rows = [_shown(tensor[i], edge) for i in picked]
    if len(picked) < size:
        rows.insert(edge, _GAP)
    return rows


def _leaves(nested: Any) -> Iterator[Any]:
    if isinstance(nested, list):
        for entry in nested:
            yield from _leaves(entry)
    elif nested is not _GAP:
        yield nested


def _layout(nested: Any, ndim: int, indent: int, column: Any, options: Options) -> str:
    """The text of nested lists; continuation lines begin at column `indent`."""
    if ndim == 0:
        return str(column(nested))
    if ndim == 1:
        return _line(nested, indent, column, options)
    parts = [
        "..." if entry is _GAP else _layout(entry, ndim - 1, indent + 1, column, options)
        for entry in nested
    ]
    return "[" + ("," + "\n" * (ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _line(values: list[Any], indent: int, column: Any, options: Options) -> str:
    per_line = max(1, (options.linewidth - indent) // (column.width + 2))
    words = [" ..." if value is _GAP else column(value) for value in values]
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines or [""]) + "]"


def _column_for(tensor: Tensor, values: list[Any], options: Options) -> Any:
    if tensor.is_complex():
        return _ComplexColumn(values, options)
    if tensor.is_floating_point():
        return _Column(values, options)
    return _IntegerColumn(values)


def _contents(tensor: Tensor, indent: int) -> str:
    options = _options
    if tensor.numel() > options.threshold:
        nested = _shown(tensor, max(1, options.edgeitems))
    else:
        nested = tensor.tolist()
    column = _column_for(tensor, list(_leaves(nested)), options)
    return _layout(nested, tensor.ndim, indent, column, options)


# ---- what stands around them ----


def _suffixes(tensor: Tensor) -> list[str]:
    found = []
    if tensor.device.type != "cpu":
        found.append(f"device='{tensor.device}'")
    hidden = tensor.device.type == "meta" or tensor._dispatches()
    if hidden or (tensor.numel() == 0 and tensor.ndim != 1):
        found.append(f"size={tuple(tensor.shape)}")
    if not _default_dtype(tensor):
        found.append(f"dtype={tensor.dtype}")
    if _core.names_of(tensor) is not None:
        found.append(f"names={_core.names_of(tensor)}")
    tangent = _core.get_tangent(tensor)
    if tangent is not None:
        found.append(f"tangent={tangent!r}")
    if tensor.grad_fn is not None:
        found.append(f"grad_fn=<{tensor.grad_fn.name().rsplit('::', 1)[-1]}>")
    elif tensor.requires_grad:
        found.append("requires_grad=True")
    return found


def _default_dtype(tensor: Tensor) -> bool:
    """Whether a reader would guess the dtype from the numbers."""
    if tensor.device.type == "meta" or tensor._dispatches() or tensor.numel() == 0:
        return bool(tensor.dtype == taeda.get_default_dtype())
    return _is_guessed(tensor.dtype)


def _is_guessed(dtype: Any) -> bool:
    default = taeda.get_default_dtype()
    matching = {taeda.float64: taeda.complex128, taeda.float16: taeda.complex32}
    return dtype in (default, taeda.int64, taeda.bool, matching.get(default, taeda.complex64))


def _close(text: str, suffixes: list[str], indent: int, end: int | None = None) -> str:
    """`text`, the suffixes, each on a new line if it would be too long, and the parenthesis. `end`: how long
    the last line counts as, two more than it is if None.
    """
    if end is None:
        end = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if end + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            end = indent + len(suffix)
        else:
            text += ", " + suffix
            end += len(suffix) + 2
    return text + ")"


def _prefix(tensor: Tensor) -> str:
    name = type(tensor).__name__
    return "tensor(" if name in ("Tensor", "Parameter", "Buffer") else name + "("


def _parts_text(tensor: Tensor, prefix: str) -> str:
    """The strided tensors that a sparse one is made of, each by its name; then what else there is to say."""
    parts = _core.parts_of(tensor)
    indent = len(prefix)
    shown = [
        f"{name}={_part_text(part.detach(), indent + len(name) + 1)}"
        for name, part in parts.named()
    ]
    suffixes = [s for s in _suffixes(tensor) if not s.startswith(("size=", "dtype="))]
    history = [s for s in suffixes if s.startswith(("grad_fn=", "requires_grad="))]
    facts = [f"size={tuple(tensor.shape)}", f"nnz={tensor._nnz()}"]
    facts += [s for s in suffixes if s not in history]
    facts += [] if _is_guessed(tensor.dtype) else [f"dtype={tensor.dtype}"]
    facts += [f"layout={tensor.layout}", *history]
    end = None
    if tensor.layout is _core.sparse_coo:  # in a line of their own
        end = indent + len(facts[0])
        shown.append(facts.pop(0))
    return _close(prefix + (",\n" + " " * indent).join(shown), facts, indent, end)


def _part_text(part: Tensor, indent: int) -> str:
    """Numbers without their dtype, which stands behind them all; the shape where there are none."""
    if part.device.type == "meta" or part._dispatches():
        return f"tensor(..., size={tuple(part.shape)})"
    if part.numel() == 0:
        return f"tensor([], size={tuple(part.shape)})"
    return "tensor(" + _contents(part, indent + len("tensor(")) + ")"


def _quantized_text(tensor: Tensor, parts: Any, prefix: str) -> str:
    """The numbers that the integers of a quantized tensor stand for, then how they do."""
    quantization: Any = taeda.quantization  # upward: it has made this tensor
    hidden = tensor.device.type == "meta"
    numbers = (
        "..." if hidden else _contents(parts.floats(), len(prefix)) if tensor.numel() else "[]"
    )
    place = [f"device='{tensor.device}'"] * (tensor.device.type != "cpu")
    return _close(prefix + numbers, [*place, *quantization._printing.suffixes(parts)], len(prefix))


def tensor_repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of a tensor: `tensor(`, its numbers, then what cannot be guessed from them."""
    with DisableTorchFunction(), hidden(NAMES):
        prefix = _prefix(self)
        parts = _core.parts_of(self)
        if tensor_contents is None and getattr(parts, "in_files", "") == "quantized":
            return _quantized_text(self, parts, prefix)
        if tensor_contents is None and self.layout is not _core.strided:
            return _parts_text(self, prefix)
        if tensor_contents is not None:
            body = tensor_contents
        elif self.device.type == "meta" or self._dispatches():
            body = "..."
        elif self.numel() == 0:
            body = "[]"
        else:
            body = _contents(self.detach(), len(prefix))
        return _close(prefix + body, _suffixes(self), len(prefix))


def tensor_format(self: Tensor, spec: str) -> str:
    """`format(tensor, spec)`: a 0-dim tensor formats as its number."""
    if self.ndim == 0 and self.device.type != "meta" and type(self).__name__ == "Tensor":
        return format(self.item(), spec)
    return object.__format__(self, spec)
