"""Order, in terms of sort and searchsorted."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = [
    "argsort",
    "argsort_stable",
    "bucketize_Scalar",
    "isin_Scalar_Tensor",
    "isin_Tensor_Scalar",
    "isin_Tensor_Tensor",
    "msort",
    "searchsorted_Scalar",
]

Number = int | float | bool

FEW = 16  # test elements that are compared one by one


def argsort(self: Tensor, dim: int, descending: bool) -> Tensor:
    """The indices that sort returns."""
    return taeda.sort(self, dim, descending)[1]


def argsort_stable(self: Tensor, stable: bool, dim: int, descending: bool) -> Tensor:
    """The same: every sort is stable."""
    return taeda.sort(self, dim, descending)[1]


def msort(self: Tensor) -> Tensor:
    """Sorted along dimension 0; a single number is sorted."""
    return taeda.sort(self, 0)[0]


# ---- places ----


def searchsorted_Scalar(  # noqa: N802 - the overload is called so
    sorted_sequence: Tensor,
    self: Number,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Tensor | None,
) -> Tensor:
    """A 0-dim result; the sequence has one dimension."""
    value = taeda.scalar_tensor(self, dtype=sorted_sequence.dtype, device=sorted_sequence.device)
    return taeda.searchsorted(
        sorted_sequence, value, out_int32=out_int32, right=right, side=side, sorter=sorter
    )


def bucketize_Scalar(  # noqa: N802
    self: Number, boundaries: Tensor, out_int32: bool, right: bool
) -> Tensor:
    """A 0-dim result."""
    value = taeda.scalar_tensor(self, dtype=boundaries.dtype, device=boundaries.device)
    return taeda.bucketize(value, boundaries, out_int32=out_int32, right=right)


# ---- membership ----


def isin_Tensor_Tensor(  # noqa: N802
    elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool
) -> Tensor:
    """Compared one by one with few, looked up among many; NaN is in nothing."""
    if elements.is_complex() or test_elements.is_complex():
        raise RuntimeError("isin does not support complex dtypes")
    x, tests = elements, test_elements.reshape(-1)
    if x.dtype is not tests.dtype:
        common = taeda.result_type(elements, test_elements)
        x, tests = x.to(common), tests.to(common)
    if tests.numel() <= FEW:
        found = (x.unsqueeze(-1) == tests).any(-1)
    else:
        ordered = tests.sort()[0]
        place = taeda.searchsorted(ordered, x).clamp_max(ordered.numel() - 1)
        found = ordered[place] == x
    return taeda.logical_not(found) if invert else found


def isin_Tensor_Scalar(  # noqa: N802
    elements: Tensor, test_element: Number, assume_unique: bool, invert: bool
) -> Tensor:
    """Equal, or with `invert` not equal, to one number."""
    return elements != test_element if invert else elements == test_element


def isin_Scalar_Tensor(  # noqa: N802
    element: Number, test_elements: Tensor, assume_unique: bool, invert: bool
) -> Tensor:
    """A 0-dim answer."""
    found = (test_elements == element).any()
    return taeda.logical_not(found) if invert else found
