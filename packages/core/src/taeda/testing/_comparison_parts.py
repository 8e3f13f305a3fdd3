"""What assert_close compares of tensors with parts: the strided tensors that they are made of, by name."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = ["Difference", "is_parted", "parts_to_compare"]

#: (what it is, of the one tensor, of the other, whether it has to be equal)
Part = tuple[str, Tensor, Tensor, bool]
_COMPRESSED_BY_ROWS = ("sparse_csr", "sparse_bsr")


class Difference(Exception):
    """Something that has no elements to be compared one by one differs: a text."""


def is_parted(x: Tensor) -> bool:
    """Does it have parts to compare: is it sparse, nested or masked?"""
    return x.is_nested or x.layout is not taeda.strided or hasattr(x, "get_mask")


def parts_to_compare(actual: Tensor, expected: Tensor) -> list[Part]:
    """The parts of both, of which one has some; strided tensors of both where layouts differ. Difference
    where they cannot be compared one by one.
    """
    if actual.is_nested or expected.is_nested:
        return _of_batches(actual, expected)
    if hasattr(actual, "get_mask") or hasattr(expected, "get_mask"):
        return _of_masked(actual, expected)
    if actual.layout is not expected.layout:
        return [("Tensor-likes", actual.to_dense(), expected.to_dense(), False)]
    return _of_sparse(actual, expected)


def _of_batches(actual: Any, expected: Any) -> list[Part]:
    ours, theirs = actual.unbind(), expected.unbind()
    if len(ours) != len(theirs):
        raise Difference(
            f"The number of tensors in nested tensors does not match: {len(ours)} != {len(theirs)}"
        )
    pairs = enumerate(zip(ours, theirs, strict=True))
    return [(f"Tensors {number} of nested tensors", a, e, False) for number, (a, e) in pairs]


def _of_masked(actual: Any, expected: Any) -> list[Part]:
    for x in (actual, expected):
        if not hasattr(x, "get_mask"):
            raise Difference(f"A MaskedTensor does not match a tensor without a mask: {x}")
    mask, other = actual.get_mask(), expected.get_mask()
    both = mask & other  # masks come first: where they differ, nothing else is told
    kept = (actual.get_data().detach()[both], expected.get_data().detach()[both])
    return [("Masks", mask, other, True), ("Values that count", *kept, False)]


def _of_sparse(actual: Any, expected: Any) -> list[Part]:
    layout = str(actual.layout).rpartition(".")[2]
    kind = layout.replace("sparse_", "Sparse ").replace(layout[7:], layout[7:].upper())
    if layout == "sparse_coo":
        actual, expected = actual.coalesce(), expected.coalesce()
    if actual._nnz() != expected._nnz():
        raise Difference(
            f"The number of specified values in {kind[0].lower()}{kind[1:]} tensors does not match: "
            f"{actual._nnz()} != {expected._nnz()}"
        )
    names = ["indices"]
    if layout != "sparse_coo":
        rows = layout in _COMPRESSED_BY_ROWS
        names = ["crow_indices", "col_indices"] if rows else ["ccol_indices", "row_indices"]
    found = [
        (f"{kind} {name}", getattr(actual, name)(), getattr(expected, name)(), True)
        for name in names
    ]
    return [*found, (f"{kind} values", actual.values(), expected.values(), False)]
