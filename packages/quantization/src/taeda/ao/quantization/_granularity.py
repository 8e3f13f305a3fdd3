"""Which numbers share a scale, and how their range is mapped: words of observers for other libraries."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "Granularity", "MappingType", "PerAxis", "PerBlock", "PerGroup", "PerRow", "PerTensor", "PerToken",
    "TorchAODType", "ZeroPointDomain", "get_block_size",
]  # fmt: skip


class MappingType(enum.Enum):
    """How floats are mapped to integers.

    >>> [kind.name for kind in MappingType]
    ['SYMMETRIC', 'SYMMETRIC_NO_CLIPPING_ERR', 'ASYMMETRIC']
    """

    SYMMETRIC = enum.auto()  #: the greatest size becomes the greatest integer
    SYMMETRIC_NO_CLIPPING_ERR = enum.auto()  #: each end becomes an end
    ASYMMETRIC = enum.auto()  #: least and greatest become the ends


class ZeroPointDomain(enum.Enum):
    """What a zero point is.

    >>> [kind.name for kind in ZeroPointDomain]
    ['INT', 'FLOAT', 'NONE']
    """

    INT = enum.auto()
    FLOAT = enum.auto()
    NONE = enum.auto()


class TorchAODType(enum.Enum):
    """Integers of fewer than 8 bits, which no dtype holds.

    >>> [kind.name for kind in TorchAODType]
    ['INT1', 'INT2', 'INT3', 'INT4', 'INT5', 'INT6', 'INT7']
    """

    INT1 = enum.auto()
    INT2 = enum.auto()
    INT3 = enum.auto()
    INT4 = enum.auto()
    INT5 = enum.auto()
    INT6 = enum.auto()
    INT7 = enum.auto()


@dataclass(frozen=True)
class Granularity:
    """Which numbers share a scale.

    >>> all(isinstance(kind, Granularity) for kind in (PerTensor(), PerAxis(0), PerGroup(32)))
    True
    """


@dataclass(frozen=True)
class PerTensor(Granularity):
    """All of a tensor.

    >>> get_block_size((4, 6), PerTensor())
    (4, 6)
    """


@dataclass(frozen=True)
class PerAxis(Granularity):
    """Those at one place along `axis`.

    Args:
        axis: the dimension.

    >>> get_block_size((4, 6), PerAxis(axis=1))
    (4, 1)
    """

    axis: int


@dataclass(frozen=True)
class PerGroup(Granularity):
    """`group_size` neighbours in the last dimension.

    Args:
        group_size: how many.

    >>> get_block_size((4, 6), PerGroup(group_size=2))
    (1, 2)
    """

    group_size: int


@dataclass(frozen=True)
class PerBlock(Granularity):
    """Those of a block with `block_size` places along each dimension.

    Args:
        block_size: how many, a number for each dimension.

    >>> get_block_size((4, 6), PerBlock(block_size=(2, 3)))
    (2, 3)
    """

    block_size: tuple[int, ...]


class PerRow(Granularity):
    """Those of one row: all but the last dimension tell rows apart.

    >>> get_block_size((4, 6), PerRow())
    (1, 6)
    """


class PerToken(Granularity):
    """Those of one token: all but the last dimension tell tokens apart.

    >>> get_block_size((2, 4, 6), PerToken())
    (1, 1, 6)
    """


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
