"""Has somebody written into memory that a tensor of a layout shares, since its graph was recorded?

A tensor of a layout shares memory with the tensors that it was made of. Autograd of strided tensors counts
writes into what an operation keeps, and knows which views there are of what is written. Of the parts of a
layout it knows neither, so the functions between a tensor and its parts ask here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Source", "check_source", "check_writes", "version_of", "writes"]


class Source:
    """The strided tensor, with a history, that the values of a tensor of a layout are.

    Parts have it as `source`. It keeps no graph alive that the tensor does not, and no graph leads back
    to it: functions of graphs keep parts without it.
    """

    __slots__ = ("node", "tensor", "version")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.node, self.version = tensor, _written(tensor).grad_fn, version_of(tensor)

    def check(self) -> None:
        """RuntimeError if a write was recorded. One under no_grad is the business of who made it."""
        version = version_of(self.tensor)
        if version == self.version:
            return
        if _written(self.tensor).grad_fn is not self.node:
            raise RuntimeError(
                "the values that this tensor was made of have been modified by an inplace operation, whose "
                "graph it does not know: make it after that operation, or of a clone()"
            )
        self.version = version


def _written(x: Any) -> Any:
    """What the history of a write into `x` stands at: the tensor that it is a view of."""
    return x if x._base is None else x._base


def check_source(x: Any, parts: Any) -> None:
    """RuntimeError if what `x`, of these parts, was made of was written into in a graph of its own."""
    source = getattr(parts, "source", None)  # parts whose values nobody else has, have none
    if source is not None and not x.is_leaf:
        source.check()


def version_of(x: Any) -> int:
    """The count of writes; of inference tensors, which count none, -1."""
    return -1 if x.is_inference() else int(x._version)


def writes(tensors: Iterable[Any]) -> tuple[int, ...]:
    """The counts of writes into tensors, for `check_writes`."""
    return tuple(version_of(x) for x in tensors)


def check_writes(named: Iterable[tuple[str, Any]], counted: tuple[int, ...]) -> None:
    """RuntimeError if one of these tensors was written into since its writes were `counted`."""
    for (name, x), count in zip(named, counted, strict=True):
        if version_of(x) != count:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace "
                f"operation: the {name} of a tensor of another layout than strided, of {x.dtype} and shape "
                f"{list(x.shape)}, is at version {version_of(x)}; expected version {count} instead. "
                "Hint: clone() it before the write"
            )
