"""Operators whose names begin with an underscore, as libraries call them under the name of torch."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "MentionedOperator", "assert_async", "coo_to_csr", "csr_to_coo", "sample_dirichlet",
    "shape_as_tensor",
]  # fmt: skip


class MentionedOperator:
    """An operator of theirs that does not exist here: a name to register functions for. A call is
    refused.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name
        if "." not in name:
            self.default = MentionedOperator(f"{name}.default")

    def overloads(self) -> list[str]:
        """The one that libraries name."""
        return ["default"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"aten.{self.__name__} does not exist in taeda: libraries register functions for it"
        )

    def __repr__(self) -> str:
        return f"aten.{self.__name__}"


def assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """RuntimeError unless the one element is not zero. The value is waited for: nothing here goes on
    beside a check.
    """
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def shape_as_tensor(input: Tensor) -> Tensor:
    """The sizes as int64, on the cpu."""
    return taeda.tensor(tuple(input.shape), dtype=taeda.int64)


def sample_dirichlet(input: Tensor, generator: Any = None) -> Tensor:
    """Samples of Dirichlet distributions with these concentrations, along the last dimension."""
    drawn = taeda._standard_gamma(input, generator=generator)
    return drawn / drawn.sum(-1, keepdim=True)


def coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins among entries sorted by row, and where the last one ends.

    >>> from taeda._torch_names.private_ops import coo_to_csr
    >>> coo_to_csr(taeda.tensor([0, 0, 2]), 4)
    tensor([0, 2, 2, 3, 3])

    RuntimeError unless `input` has one dimension of integers.
    """
    if input.ndim != 1 or input.is_floating_point() or input.is_complex():
        raise RuntimeError(
            "_convert_indices_from_coo_to_csr: wanted the rows of entries, integers in one "
            f"dimension, got {input.dtype} of shape {list(input.shape)}"
        )
    dtype = taeda.int32 if out_int32 else taeda.int64
    rows = taeda.arange(size + 1, dtype=input.dtype, device=input.device)
    return taeda.searchsorted(input.contiguous(), rows).to(dtype)


def csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """Rows and columns, of shape (2, entries), by where the rows begin; `transpose` exchanges them.

    >>> from taeda._torch_names.private_ops import csr_to_coo
    >>> csr_to_coo(taeda.tensor([0, 2, 2, 3]), taeda.tensor([1, 3, 0]))
    tensor([[0, 0, 2],
            [1, 3, 0]])
    """
    numbers = taeda.arange(crow_indices.numel() - 1, device=crow_indices.device)
    rows = numbers.repeat_interleave(crow_indices.diff().long())
    pair = [col_indices, rows] if transpose else [rows, col_indices]
    dtype = taeda.int32 if out_int32 else taeda.int64
    return taeda.stack([part.to(dtype) for part in pair])
