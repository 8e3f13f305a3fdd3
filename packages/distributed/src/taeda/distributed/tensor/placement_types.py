"""How a tensor lies on the ranks of a mesh: cut along a dimension, or whole on each."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Placement", "Replicate", "Shard"]


class Placement:
    """How a tensor lies along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it cut (along this dimension)?"""
        return False

    def is_replicate(self) -> bool:
        """Does every rank have all of it?"""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """Cut along the dimension `dim` of the tensor, as `chunk` cuts: the last ranks may have less, or none."""

    dim: int

    def is_shard(self, dim: int | None = None) -> bool:
        """Is it cut (along this dimension)?"""
        return dim is None or dim == self.dim


@dataclass(frozen=True)
class Replicate(Placement):
    """Whole on every rank."""

    def is_replicate(self) -> bool:
        """Does every rank have all of it?"""
        return True


def chunk_of(size: int, parts: int, part: int) -> tuple[int, int]:
    """Where a rank's chunk begins, and its size. `chunk` gives 5 over 4 as 2, 2, 1 and nothing."""
    each = -(-size // parts)
    begin = min(part * each, size)
    return begin, min(each, size - begin)
