"""Lists of tensors by device and dtype, as optimizers take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor

__all__: list[str] = []

Lists = Sequence[Sequence[Tensor | None]]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Lists, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Tensor | None]], list[int]]]:
    """The lists of each (device, dtype) of the first list, and with `with_indices` the places in it.

    Entries of the others go where those of the first go; an empty list stays empty.

    >>> x = [taeda.ones(1), taeda.ones(1, dtype=taeda.float64), taeda.zeros(1)]
    >>> groups = _group_tensors_by_device_and_dtype([x], with_indices=True)
    >>> [places for _, places in groups.values()]
    [[0, 2], [1]]

    RuntimeError for no lists, for lists of other lengths, and for None in the first.
    """
    if not tensorlistlist or not tensorlistlist[0]:
        raise RuntimeError("lists are grouped by the tensors of the first: it has none")
    first, count = tensorlistlist[0], len(tensorlistlist[0])
    if wrong := [len(one) for one in tensorlistlist if len(one) not in (0, count)]:
        raise RuntimeError(f"lists must be empty or of length {count} as the first, got {wrong}")
    places: dict[tuple[Any, Any], list[int]] = {}
    for at, tensor in enumerate(first):
        if tensor is None:
            raise RuntimeError(f"the first list has None at {at}: its tensors tell the groups")
        places.setdefault((tensor.device, tensor.dtype), []).append(at)
    return {
        key: (
            [[one[at] for at in found] if one else [] for one in tensorlistlist],
            found if with_indices else [],
        )
        for key, found in places.items()
    }
