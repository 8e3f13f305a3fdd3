"""Sums of sparse tensors."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import require_tensors

__all__ = ["sum"]


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Tensor:
    """The sum of all elements, or along dimensions; gradients are sparse, at the places of `input`.

    Args:
        input: a sparse tensor.
        dim: a dimension or several; None (the default) for all. Sums along all sparse
            dimensions are strided, others sparse.
        dtype: of the result; None (the default) for that of `input`, int64 for integers.

    >>> import taeda
    >>> x = taeda.tensor([[1.0, 2.0], [0.0, 3.0]]).to_sparse()
    >>> taeda.sparse.sum(x), taeda.sparse.sum(x, 0).to_dense()
    (tensor(6.), tensor([1., 5.]))
    """
    require_tensors("sum", input=input)
    if input.layout is taeda.strided:
        raise RuntimeError(
            "sparse.sum expected a sparse tensor but got one of layout taeda.strided"
        )
    if dim is None:
        return input.sum(dtype=dtype)
    dims = [dim] if isinstance(dim, int) else list(dim)
    if not dims:
        return input if dtype is None else input.to(dtype)
    return input.sum(dims, dtype=dtype)
