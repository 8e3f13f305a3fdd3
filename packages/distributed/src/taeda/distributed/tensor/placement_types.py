"""How a tensor lies on the ranks of a mesh: cut along a dimension, whole on each, or in terms of a sum."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]

#: what the parts of a Partial are put together by
REDUCTIONS = ("sum", "avg", "product", "max", "min")


class Placement:
    """How a tensor lies along one dimension of a mesh.

    >>> [place.is_shard() for place in (Shard(0), Replicate(), Partial())]
    [True, False, False]
    """

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it cut (along this dimension)?"""
        return False

    def is_replicate(self) -> bool:
        """Does every rank have all of it?"""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Does every rank hold a term (of this reduction)?"""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """Cut along the dimension `dim` of the tensor, as `chunk` cuts: the last ranks may have less, or none.

    Args:
        dim: the dimension of the tensor that is cut; negative ones count from the end.
    """

    dim: int

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, int):
            raise TypeError(f"Shard takes the number of a dimension, not {self.dim!r}")

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it cut (along this dimension)?"""
        return dim is None or dim == self.dim

    @staticmethod
    def local_shard_size_and_offset(
        curr_local_size: int, num_chunks: int, rank: int
    ) -> tuple[int, int]:
        """Size and first place of the part `rank` of a dimension of this size, cut into `num_chunks`.

        >>> [Shard.local_shard_size_and_offset(5, 4, rank) for rank in range(4)]
        [(2, 0), (2, 2), (1, 4), (0, 5)]
        """
        begin, size = chunk_of(curr_local_size, num_chunks, rank)
        return size, begin

    def __str__(self) -> str:
        return f"S({self.dim})"


class _StridedShard(Placement):
    """A cut whose parts take turns along a dimension. Libraries ask whether a placement is one: none is.

    NotImplementedError for whoever makes one.
    """

    def __init__(self, dim: int, *, split_factor: int) -> None:
        raise NotImplementedError(
            f"_StridedShard(dim={dim}, split_factor={split_factor}): parts of a DTensor are whole "
            "chunks here. Cut each of the fused tensors by itself, with Shard"
        )


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on every rank.

    >>> Replicate().is_replicate(), str(Replicate())
    (True, 'R')
    """

    def is_replicate(self) -> bool:
        """Does every rank have all of it?"""
        return True

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """A term on every rank, in the shape of the whole, which is their `reduce_op`.

    `reduce_op` is "sum", "avg", "product", "max" or "min"; ValueError for another.

    Args:
        reduce_op: how the terms of the ranks are put together: "sum", the default, "avg",
            "product", "max" or "min".

    >>> Partial("max").is_partial("max"), Partial().reduce_op
    (True, 'sum')
    """

    reduce_op: str = "sum"

    def __post_init__(self) -> None:
        if self.reduce_op not in REDUCTIONS:
            raise ValueError(
                f"Partial({self.reduce_op!r}): reduce_op is one of {', '.join(REDUCTIONS)}"
            )

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Does every rank hold a term (of this reduction)?"""
        return reduce_op is None or reduce_op == self.reduce_op

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


def chunk_of(size: int, parts: int, part: int) -> tuple[int, int]:
    """Where a rank's chunk begins, and its size. `chunk` gives 5 over 4 as 2, 2, 1 and nothing."""
    each = -(-size // parts)
    begin = min(part * each, size)
    return begin, min(each, size - begin)
