"""Sparse tensors by compressed rows (CSR, BSR) or columns (CSC, BSC): where each row or column begins,
the other index of each entry, and the values.

Entries are numbers, or blocks of `blocksize`. Dimensions before the two sparse ones are batches, each
with as many entries as the others; dimensions after them are dense.
"""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.layouts import version_of

__all__ = [
    "BLOCKED",
    "BY_ROWS",
    "COMPRESSED",
    "MATRICES",
    "TURNED",
    "Compressed",
    "check_compressed",
    "names_of",
]

COMPRESSED = (taeda.sparse_csr, taeda.sparse_csc, taeda.sparse_bsr, taeda.sparse_bsc)
#: one number an entry
MATRICES = (taeda.sparse_csr, taeda.sparse_csc)
BY_ROWS = (taeda.sparse_csr, taeda.sparse_bsr)
BLOCKED = (taeda.sparse_bsr, taeda.sparse_bsc)
#: the layout of the transposed matrix
TURNED = {
    taeda.sparse_csr: taeda.sparse_csc,
    taeda.sparse_csc: taeda.sparse_csr,
    taeda.sparse_bsr: taeda.sparse_bsc,
    taeda.sparse_bsc: taeda.sparse_bsr,
}


def names_of(layout: Any) -> tuple[str, str]:
    """What the compressed and the plain indices are called."""
    if layout in BY_ROWS:
        return "crow_indices", "col_indices"
    return "ccol_indices", "row_indices"


class Compressed:
    """Compressed indices (batches, rows + 1), plain indices (batches, entries) and values (batches,
    entries, block, dense dimensions); of columns where the layout is by columns.
    """

    __slots__ = ("compressed", "layout", "plain", "source", "values", "versions")

    def __init__(self, layout: Any, compressed: Tensor, plain: Tensor, values: Tensor) -> None:
        self.layout, self.compressed, self.plain, self.values = layout, compressed, plain, values
        self.versions = version_of(compressed), version_of(plain)
        self.source: Any = None  # what the values are, if a graph knows of that

    def like(self, values: Tensor) -> Compressed:
        """Other values at the same places, whose indices were looked at when those of this one were."""
        made = Compressed.__new__(Compressed)
        made.layout, made.compressed, made.plain = self.layout, self.compressed, self.plain
        made.values, made.versions, made.source = values, self.versions, None
        return made

    def become(self, other: Compressed) -> None:
        """Take over what another has: every tensor of these parts, such as one that was detached, sees it."""
        self.compressed, self.plain, self.values = other.compressed, other.plain, other.values
        self.versions, self.source = other.versions, None

    def placing(self) -> tuple[tuple[str, Tensor], ...]:
        """The tensors that say where values stand, by their names."""
        return self.named()[:2]

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The strided tensors, by the names that they are printed under."""
        first, second = names_of(self.layout)
        return (first, self.compressed), (second, self.plain), ("values", self.values)

    @property
    def batch(self) -> tuple[int, ...]:
        """The sizes of the batch dimensions."""
        return tuple(self.compressed.shape[:-1])

    @property
    def blocksize(self) -> tuple[int, int]:
        """Rows and columns of an entry."""
        if self.layout not in BLOCKED:
            return 1, 1
        at = self.plain.dim()
        return int(self.values.shape[at]), int(self.values.shape[at + 1])

    @property
    def is_row_major(self) -> bool:
        """Do entries lie in the order of their places in a strided tensor?"""
        return self.layout is taeda.sparse_csr

    def _dense(self) -> tuple[int, ...]:
        return tuple(self.values.shape[self.plain.dim() + 2 * (self.layout in BLOCKED) :])

    def flat(self, values: Tensor) -> Tensor:
        """Values of this form with one dimension for all elements, before the dense ones."""
        return values.reshape(-1, *self._dense()) if values.numel() else self._none(values)

    def _none(self, values: Tensor) -> Tensor:
        count = math.prod(values.shape[: values.dim() - len(self._dense())])
        return values.reshape(count, *self._dense())

    def shaped(self, flat: Tensor) -> Tensor:
        """Values of this form, of those with one dimension for all elements."""
        return flat.reshape(self.values.shape)

    def majors(self) -> Tensor:
        """The row (by columns: the column) of each entry: (batches, entries)."""
        counts = self.compressed.diff().long().reshape(-1)
        length = self.compressed.shape[-1] - 1
        number = taeda.arange(length, device=self.plain.device).repeat(
            max(math.prod(self.batch), 0)
        )
        return number.repeat_interleave(counts).reshape(self.plain.shape)

    def places(self) -> tuple[Tensor, ...]:
        """The indices of each element, for each dimension but the dense ones: one dimension each."""
        major, minor = self.majors(), self.plain.long()
        row, col = (major, minor) if self.layout in BY_ROWS else (minor, major)
        height, width = self.blocksize
        shape = (*self.plain.shape, height, width)
        down = taeda.arange(height, device=row.device).unsqueeze(1)
        along = taeda.arange(width, device=row.device)
        rows = (row[..., None, None] * height + down).expand(shape).reshape(-1)
        cols = (col[..., None, None] * width + along).expand(shape).reshape(-1)
        return *self._batch_places(shape), rows, cols

    def _batch_places(self, shape: tuple[int, ...]) -> list[Tensor]:
        found = []
        for dim, length in enumerate(self.batch):
            one = taeda.arange(length, device=self.plain.device)
            turned = one.reshape((-1, *(1,) * (len(shape) - dim - 1)))
            found.append(turned.expand(shape).reshape(-1))
        return found

    def check(self, size: Any) -> None:
        """Look at the indices again if somebody wrote into them, whose memory they share."""
        versions = version_of(self.compressed), version_of(self.plain)
        if self.versions == versions and -1 not in versions:
            return
        check_compressed(self, size)
        self.versions = versions


# ---- bounds ----


def check_compressed(parts: Compressed, size: Any) -> None:
    """RuntimeError for offsets that do not rise from 0 to the number of entries, for a plain index
    that is out of bounds, and for plain indices of a row that do not rise.
    """
    first, second = names_of(parts.layout)
    compressed, plain, entries = parts.compressed, parts.plain, parts.plain.shape[-1]
    if not compressed.numel() or compressed.is_meta:  # on meta there are no numbers to look at
        return
    _check_offsets(first, compressed, entries, second)
    if not plain.numel():
        return
    height, width = parts.blocksize
    batch = len(parts.batch)
    length = size[batch + 1] // width if parts.layout in BY_ROWS else size[batch] // height
    least, most = int(plain.amin()), int(plain.amax())
    if least < 0 or most >= length:
        raise RuntimeError(
            f"{second} must be from 0 to {length - 1}, but they are from {least} to {most}"
        )
    flat = plain.long() + parts.majors() * length
    flat = flat.reshape(-1, entries)
    if bool((flat.diff(dim=1) <= 0).any()):
        what = "row" if parts.layout in BY_ROWS else "column"
        raise RuntimeError(f"{second} must rise within each {what}, and name none twice")


def _check_offsets(first: str, compressed: Tensor, entries: int, second: str) -> None:
    begin, end = compressed[..., 0], compressed[..., -1]
    falls = bool((compressed.diff() < 0).any())
    if falls or bool((begin != 0).any()) or bool((end != entries).any()):
        low, high = int(begin.reshape(-1)[0]), int(end.reshape(-1)[0])
        raise RuntimeError(
            f"{first} must rise from 0 to {entries}, the number of {second}, but they begin with "
            f"{low} and end with {high}" + (", and fall in between" if falls else "")
        )
