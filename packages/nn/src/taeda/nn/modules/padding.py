"""Padding as modules. Sizes are (before, after) of the last dimension, then of the one before it, ..."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .. import functional as F
from .module import Module
from .utils import _ntuple, _pair, _quadruple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]

_TUPLES = {1: _pair, 2: _quadruple, 3: _ntuple(6)}


class _PadNd(Module):
    """A padding of a fixed mode; subclasses say the number of spatial dimensions."""

    _taeda_mode: str
    _taeda_spatial: int

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _TUPLES[self._taeda_spatial](padding)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) or (C, *) with larger (or cut) spatial sizes."""
        return F.pad(input, self.padding, self._taeda_mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    _taeda_mode = "constant"
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Larger (or cut) last dimensions."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """One value around the last dimension.

    Args:
        padding: how much is added: one int for all ends, or 2 in a tuple, the last dimension's
            first: (left, right). Negative ones crop.
        value: the value.

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ConstantPad1d(1, 0.0)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 8])
    """

    _taeda_spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """One value around the last two dimensions.

    Args:
        padding: how much is added: one int for all ends, or 4 in a tuple, the last dimension's
            first: (left, right, top, bottom). Negative ones crop.
        value: the value.

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ConstantPad2d(1, 0.0)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 8, 8])
    """

    _taeda_spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """One value around the last three dimensions.

    Args:
        padding: how much is added: one int for all ends, or 6 in a tuple, the last dimension's
            first: (left, right, top, bottom, front, back). Negative ones crop.
        value: the value.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ConstantPad3d(1, 0.0)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 8, 8, 8])
    """

    _taeda_spatial = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros around the last dimension.

    Args:
        padding: how much is added: one int for all ends, or 2 in a tuple, the last dimension's
            first: (left, right). Negative ones crop.

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ZeroPad1d(1)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 8])
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around the last two dimensions.

    Args:
        padding: how much is added: one int for all ends, or 4 in a tuple, the last dimension's
            first: (left, right, top, bottom). Negative ones crop.

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ZeroPad2d(1)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 8, 8])
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around the last three dimensions.

    Args:
        padding: how much is added: one int for all ends, or 6 in a tuple, the last dimension's
            first: (left, right, top, bottom, front, back). Negative ones crop.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "constant".

    >>> ZeroPad3d(1)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 8, 8, 8])
    """

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ReflectionPadNd(_PadNd):
    _taeda_mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """The mirror image at both ends of (N, C, L) or (C, L), without the edge itself.

    Args:
        padding: how much is added: one int for all ends, or 2 in a tuple, the last dimension's
            first: (left, right). Each less than the size there; negative ones crop.

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "reflect".

    >>> ReflectionPad1d(1)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 8])
    """

    _taeda_spatial = 1


class ReflectionPad2d(_ReflectionPadNd):
    """The mirror image around (N, C, H, W) or (C, H, W), without the edge itself.

    Args:
        padding: how much is added: one int for all ends, or 4 in a tuple, the last dimension's
            first: (left, right, top, bottom). Each less than the size there; negative ones crop.

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "reflect".

    >>> ReflectionPad2d(1)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 8, 8])
    """

    _taeda_spatial = 2


class ReflectionPad3d(_ReflectionPadNd):
    """The mirror image around (N, C, D, H, W) or (C, D, H, W), without the edge itself.

    Args:
        padding: how much is added: one int for all ends, or 6 in a tuple, the last dimension's
            first: (left, right, top, bottom, front, back). Each less than the size there; negative
            ones crop.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "reflect".

    >>> ReflectionPad3d(1)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 8, 8, 8])
    """

    _taeda_spatial = 3


class _ReplicationPadNd(_PadNd):
    _taeda_mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """The edge repeated at both ends of (N, C, L) or (C, L).

    Args:
        padding: how much is added: one int for all ends, or 2 in a tuple, the last dimension's
            first: (left, right). Negative ones crop.

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "replicate".

    >>> ReplicationPad1d(1)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 8])
    """

    _taeda_spatial = 1


class ReplicationPad2d(_ReplicationPadNd):
    """The edge repeated around (N, C, H, W) or (C, H, W).

    Args:
        padding: how much is added: one int for all ends, or 4 in a tuple, the last dimension's
            first: (left, right, top, bottom). Negative ones crop.

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "replicate".

    >>> ReplicationPad2d(1)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 8, 8])
    """

    _taeda_spatial = 2


class ReplicationPad3d(_ReplicationPadNd):
    """The edge repeated around (N, C, D, H, W) or (C, D, H, W).

    Args:
        padding: how much is added: one int for all ends, or 6 in a tuple, the last dimension's
            first: (left, right, top, bottom, front, back). Negative ones crop.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "replicate".

    >>> ReplicationPad3d(1)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 8, 8, 8])
    """

    _taeda_spatial = 3


class _CircularPadNd(_PadNd):
    _taeda_mode = "circular"


class CircularPad1d(_CircularPadNd):
    """What lies at the other end of (N, C, L) or (C, L).

    Args:
        padding: how much is added: one int for all ends, or 2 in a tuple, the last dimension's
            first: (left, right). Each at most the size there; negative ones crop.

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "circular".

    >>> CircularPad1d(1)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 8])
    """

    _taeda_spatial = 1


class CircularPad2d(_CircularPadNd):
    """What lies at the other side of (N, C, H, W) or (C, H, W).

    Args:
        padding: how much is added: one int for all ends, or 4 in a tuple, the last dimension's
            first: (left, right, top, bottom). Each at most the size there; negative ones crop.

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "circular".

    >>> CircularPad2d(1)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 8, 8])
    """

    _taeda_spatial = 2


class CircularPad3d(_CircularPadNd):
    """What lies at the other side of (N, C, D, H, W) or (C, D, H, W).

    Args:
        padding: how much is added: one int for all ends, or 6 in a tuple, the last dimension's
            first: (left, right, top, bottom, front, back). Each at most the size there; negative
            ones crop.

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes in + both ends' padding.

    The same as a function: `nn.functional.pad` with mode "circular".

    >>> CircularPad3d(1)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 8, 8, 8])
    """

    _taeda_spatial = 3
