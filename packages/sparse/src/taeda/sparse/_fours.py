"""Two of each four elements of a row: values, and their places as two bits each.

Bits of a group: the place of its first value in the lower two, of its second in the upper two. Groups
fill an integer from its low end on.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["compressed", "expanded"]


def _integer(dtype: taeda.dtype) -> taeda.dtype:
    return taeda.int32 if dtype is taeda.int8 else taeda.int16


def compressed(x: Tensor) -> tuple[Tensor, Tensor]:
    """Values (rows, columns / 2) and places of a matrix; RuntimeError for a third element other than 0 in
    four.
    """
    rows, columns = x.shape
    fours = x.reshape(rows, columns // 4, 4)
    used = fours != 0
    if bool((used.sum(2) > 2).any()):
        row, group = (used.sum(2) > 2).nonzero()[0].tolist()
        raise RuntimeError(
            "to_sparse_semi_structured: at most two of four elements may be other than 0, and row "
            f"{row} has {int(used[row, group].sum())} from column {4 * group} on. Set the others to 0 first"
        )
    places = taeda.sort(used.to(taeda.uint8), dim=2, descending=True, stable=True).indices[..., :2]
    places = places.sort(2).values
    values = fours.gather(2, places).reshape(rows, columns // 2)
    return values, _packed(places.to(taeda.int32), _integer(x.dtype))


def _packed(places: Tensor, kind: taeda.dtype) -> Tensor:
    nibbles = places[..., 0] | (places[..., 1] << 2)
    count = kind.itemsize * 2
    shifts = taeda.arange(0, 4 * count, 4, device=places.device)
    words = (nibbles.to(taeda.int64).unflatten(1, (-1, count)) << shifts).sum(2)
    limit = 1 << (8 * kind.itemsize - 1)
    return ((words + limit) % (2 * limit) - limit).to(kind)


def expanded(values: Tensor, meta: Tensor) -> Tensor:
    """The matrix of these values and places."""
    rows, half = values.shape
    count = meta.dtype.itemsize * 2
    shifts = taeda.arange(0, 4 * count, 4, device=meta.device)
    nibbles = (meta.to(taeda.int64).unsqueeze(2) >> shifts).flatten(1) & 15
    places = taeda.stack([nibbles & 3, nibbles >> 2], 2)
    whole = values.new_zeros(rows, half // 2, 4)
    return whole.scatter_(2, places, values.reshape(rows, half // 2, 2)).reshape(rows, 2 * half)
