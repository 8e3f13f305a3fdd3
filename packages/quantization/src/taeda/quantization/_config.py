"""What a weight becomes: configurations for `quantize_`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taeda import Tensor

from ._modules import Int4Embedding, Int4Linear, Int8Embedding, Int8Linear
from ._pack import PIECE, Packed, pack_int4, pack_int8

__all__ = ["Config", "Int4WeightOnly", "Int8WeightOnly", "int4_weight_only", "int8_weight_only"]


@dataclass(frozen=True)
class Config:
    """Numbers in a row that share a scale; None: a whole row."""

    group_size: int | None
    smaller: ClassVar[tuple[int, ...]] = ()  # sizes of groups that are no multiple of a piece

    def __post_init__(self) -> None:
        size = self.group_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
            raise TypeError(f"group_size must be an int or None, not {size!r}")
        if size is not None and size not in self.smaller and (size <= 0 or size % PIECE):
            also = "".join(f"{n}, or " for n in self.smaller)
            raise ValueError(f"group_size must be {also}a positive multiple of {PIECE}, not {size}")


@dataclass(frozen=True)
class Int8WeightOnly(Config):
    """What `int8_weight_only` makes."""

    name = "int8"
    smaller = (PIECE // 2,)
    linear = Int8Linear
    embedding = Int8Embedding

    def pack(self, matrix: Tensor) -> Packed:
        """Raises Unpackable."""
        return pack_int8(matrix, self.group_size)


@dataclass(frozen=True)
class Int4WeightOnly(Config):
    """What `int4_weight_only` makes."""

    symmetric: bool
    name = "int4"
    linear = Int4Linear
    embedding = Int4Embedding

    def pack(self, matrix: Tensor) -> Packed:
        """Raises Unpackable."""
        return pack_int4(matrix, self.group_size, self.symmetric)


def int8_weight_only(group_size: int | None = None) -> Int8WeightOnly:
    """Weights of int8, from -127 to 127 times a scale: 8 bits a number, and 0.5 more with groups of 32.

    Args:
        group_size: numbers in a row that share a scale, 16 or a multiple of 32; None: a whole row.

    Raises TypeError or ValueError for anything else.

    >>> int8_weight_only()
    Int8WeightOnly(group_size=None)
    """
    return Int8WeightOnly(group_size)


def int4_weight_only(group_size: int | None = 32, *, symmetric: bool = True) -> Int4WeightOnly:
    """Weights of 4 bits, in groups.

    Args:
        group_size: numbers in a row that share a scale, a multiple of 32; None: a whole row. 32 takes 4.5
            bits a number.
        symmetric: a number is scale * (q - 8); else it is scale * q + offset, which is nearer
            to the weight and takes another half bit (default: True).

    Raises TypeError or ValueError for anything else.

    >>> int4_weight_only(64).group_size
    64
    """
    if not isinstance(symmetric, bool):
        raise TypeError(f"symmetric must be True or False, not {symmetric!r}")
    return Int4WeightOnly(group_size, symmetric)
