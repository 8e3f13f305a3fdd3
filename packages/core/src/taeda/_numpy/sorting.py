"""Unique elements: sort, mark where something new begins, count from mark to mark.

Results are (values, inverse, counts); what was not asked for is empty. NaN differs from NaN.
"""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["_unique2", "_unique_consecutive", "unique_dim"]

Unique = tuple[Tensor, Tensor, Tensor]

TURNS = 16  # of groups before columns are taken one after the other
PART = 1 << 22  # elements that are compared at a time


def _unique2(self: Tensor, sorted: bool, return_inverse: bool, return_counts: bool) -> Unique:
    """Always in ascending order."""
    _check_order(self)
    _check_values(self)
    flat = self.reshape(-1)
    ordered, order = taeda.sort(flat)
    values, inverse, counts = _collect(ordered, _begins(ordered), return_inverse, return_counts)
    if return_inverse:
        inverse = taeda.empty_like(inverse).scatter_(0, order, inverse).view(self.shape)
    return values, inverse, counts


def _unique_consecutive(
    self: Tensor, return_inverse: bool, return_counts: bool, dim: int | None
) -> Unique:
    """Runs of equal elements, or of equal slices of a dimension."""
    _check_values(self)
    if dim is not None and self.dim() != 0:
        begins = _begins(_rows(self, dim))
        return _slices(self, dim, None, begins, return_inverse, return_counts)
    flat = self.reshape(-1)
    values, inverse, counts = _collect(flat, _begins(flat), return_inverse, return_counts)
    return values, inverse.view(self.shape) if return_inverse else inverse, counts


def unique_dim(
    self: Tensor, dim: int, sorted: bool, return_inverse: bool, return_counts: bool
) -> Unique:
    """Slices are compared element by element; they come out in lexicographic order."""
    if self.dim() == 0:
        raise IndexError(f"unique: dim {dim} was given, but the tensor has no dimensions")
    _check_order(self)
    _check_values(self)
    _check_slices(self, dim)
    rows = _rows(self, dim)
    order = _order(rows)
    return _slices(self, dim, order, _begins(rows[order]), return_inverse, return_counts)


def _order(rows: Tensor) -> Tensor:
    """The lexicographic order of the rows of a matrix; equal ones keep theirs, and NaN equals NaN.

    Rows that are equal so far are a group. A turn sorts every group by the first column in which its
    rows differ: a few turns for most data, whatever the number of columns. Where that is not enough,
    the columns are taken from the last to the first.
    """
    order = taeda.arange(rows.size(0), device=rows.device)
    if rows.size(1) > TURNS:
        groups = taeda.zeros_like(order)
        for _ in range(TURNS):
            column = _first_difference(rows, order, groups)
            if not bool((column < rows.size(1)).any()):
                return order
            order, groups = _split(rows, order, groups, column.clamp(max=rows.size(1) - 1))
    for number in range(rows.size(1) - 1, -1, -1):
        order = order[rows[:, number][order].sort(stable=True)[1]]
    return order


def _first_difference(rows: Tensor, order: Tensor, groups: Tensor) -> Tensor:
    """For every row the first column in which rows of its group differ, or the number of columns."""
    heads = taeda.searchsorted(groups, groups)  # where each group begins
    place = taeda.full_like(order, rows.size(1))
    rest = (heads != taeda.arange(order.numel(), device=order.device)).nonzero().view(-1)
    for part in rest.split(max(1, PART // rows.size(1))):
        differs = _differ(rows[order[part]], rows[order[heads[part]]])
        found = differs.to(taeda.uint8).argmax(1)
        place[part] = found.where(differs.any(1), place[part])
    return taeda.full_like(place, rows.size(1)).scatter_reduce(0, heads, place, "amin")[heads]


def _split(rows: Tensor, order: Tensor, groups: Tensor, column: Tensor) -> tuple[Tensor, Tensor]:
    """The order and the groups after each group was sorted by its column."""
    keys = rows[order, column]
    by_key = keys.sort(stable=True)[1]
    turn = by_key[groups[by_key].sort(stable=True)[1]]
    order, keys, groups = order[turn], keys[turn], groups[turn]
    begins = taeda.zeros_like(groups)
    begins[1:] = (groups[1:] != groups[:-1]) | _differ(keys[1:], keys[:-1])
    return order, begins.cumsum(0)


def _differ(x: Tensor, y: Tensor) -> Tensor:
    return (x != y) & ((x == x) | (y == y))


def _check_values(x: Tensor) -> None:
    """At once: the loop over the columns of a meta tensor could be as long as one likes."""
    if x.is_meta:
        raise NotImplementedError(
            "unique: the shape of the result depends on values, which a meta tensor does not have"
        )


def _check_order(x: Tensor) -> None:
    if x.is_complex():
        raise NotImplementedError(f"unique is not implemented for {x.dtype}")


def _check_slices(x: Tensor, dim: int) -> None:
    if x.numel() == 0 and (x.size(dim) != 0 or sum(s == 0 for s in x.shape) > 1):
        raise RuntimeError(
            "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
        )


def _rows(x: Tensor, dim: int) -> Tensor:
    """The slices of a dimension as rows of a matrix."""
    return x.movedim(dim, 0).reshape(x.size(dim), -1) if x.numel() else x.new_empty(x.size(dim), 0)


def _begins(x: Tensor) -> Tensor:
    """True at the first of every run of equal elements, or of equal rows of a matrix."""
    begins = taeda.ones(x.size(0), dtype=taeda.bool, device=x.device)
    differs = x[1:] != x[:-1]
    begins[1:] = differs if x.dim() == 1 else differs.any(1)
    return begins


def _starts(begins: Tensor) -> Tensor:
    return begins.nonzero().view(-1)


def _numbers(begins: Tensor) -> Tensor:
    """For every element the number of its run."""
    return begins.cumsum(0).sub_(1)


def _lengths(starts: Tensor, n: int) -> Tensor:
    end = taeda.full((1,), n, dtype=taeda.int64, device=starts.device)
    return taeda.cat([starts, end]).diff()


def _collect(x: Tensor, begins: Tensor, return_inverse: bool, return_counts: bool) -> Unique:
    none = taeda.empty(0, dtype=taeda.int64, device=x.device)
    if x.numel() == 0:
        return x.clone(), none, none
    inverse = _numbers(begins) if return_inverse else none
    counts = _lengths(_starts(begins), x.numel()) if return_counts else none
    return x.masked_select(begins), inverse, counts


def _slices(
    x: Tensor,
    dim: int,
    order: Tensor | None,
    begins: Tensor,
    return_inverse: bool,
    return_counts: bool,
) -> Unique:
    """Slices that start a run; `order` is how they were sorted."""
    none = taeda.empty(0, dtype=taeda.int64, device=x.device)
    n = x.size(dim)
    if n == 0:
        return x.clone(), none, none
    starts = _starts(begins)
    values = x.index_select(dim, starts if order is None else order[starts])
    inverse = _numbers(begins) if return_inverse else none
    if return_inverse and order is not None:
        inverse = taeda.empty_like(inverse).scatter_(0, order, inverse)
    return values, inverse, _lengths(starts, n) if return_counts else none
