"""Which numbers share a scale, and how their range is mapped: words of observers for other libraries."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "Granularity", "MappingType", "PerAxis", "PerBlock", "PerGroup", "PerRow", "PerTensor", "PerToken",
    "TorchAODType", "ZeroPointDomain", "get_block_size",
]  # fmt: skip


class MappingType(enum.Enum):
    """How floats are mapped to integers."""

    SYMMETRIC = enum.auto()  #: the greatest size becomes the greatest integer
    SYMMETRIC_NO_CLIPPING_ERR = enum.auto()  #: each end becomes an end
    ASYMMETRIC = enum.auto()  #: least and greatest become the ends


class ZeroPointDomain(enum.Enum):
    """What a zero point is."""

    INT = enum.auto()
    FLOAT = enum.auto()
    NONE = enum.auto()


class TorchAODType(enum.Enum):
    """Integers of fewer than 8 bits, which no dtype holds."""

    INT1 = enum.auto()
    INT2 = enum.auto()
    INT3 = enum.auto()
    INT4 = enum.auto()
    INT5 = enum.auto()
    INT6 = enum.auto()
    INT7 = enum.auto()


@dataclass(frozen=True)
class Granularity:
    """Which numbers share a scale."""


@dataclass(frozen=True)
class PerTensor(Granularity):
    """All of a tensor."""


@dataclass(frozen=True)
class PerAxis(Granularity):
    """Those at one place along `axis`.

    Args:
        axis: the dimension.
    """

    axis: int


@dataclass(frozen=True)
class PerGroup(Granularity):
    """`group_size` neighbours in the last dimension.

    Args:
        group_size: how many.
    """

    group_size: int


@dataclass(frozen=True)
class PerBlock(Granularity):
    """Those of a block with `block_size` places along each dimension.

    Args:
        block_size: how many, a number for each dimension.
    """

    block_size: tuple[int, ...]


class PerRow(Granularity):
    """Those of one row: all but the last dimension tell rows apart."""


class PerToken(Granularity):
    """Those of one token: all but the last dimension tell tokens apart."""


def get_block_size(input_shape: tuple[int, ...], granularity: Granularity) -> tuple[int, ...]:
    """How many places along each dimension share a scale.

    Args:
        input_shape: the shape of the tensor.
        granularity: which numbers share one.

    ValueError for another granularity, AssertionError where blocks do not divide the shape.

    >>> get_block_size((4, 6), PerGroup(3))
    (1, 3)
    """
    shape = tuple(input_shape)
    if isinstance(granularity, PerTensor):
        return shape
    if isinstance(granularity, PerAxis):
        return tuple(1 if dim == granularity.axis else n for dim, n in enumerate(shape))
    if isinstance(granularity, (PerRow, PerToken)):
        return (1,) * (len(shape) - 1) + (shape[-1],)
    if isinstance(granularity, PerGroup):
        return _divides(shape, (1,) * (len(shape) - 1) + (granularity.group_size,))
    if isinstance(granularity, PerBlock):
        return _divides(shape, granularity.block_size)
    raise ValueError(f"unsupported granularity: {granularity}")


def _divides(shape: tuple[int, ...], block: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != len(block) or any(n % b for n, b in zip(shape, block, strict=False)):
        raise AssertionError(f"blocks of {block} do not divide a tensor of shape {shape}")
    return block
