"""Distances, similarities and norms between and of vectors."""

from __future__ import annotations

from functools import partial

import taeda
from taeda import Tensor
from taeda._core_api.calls import FLOAT32_ON_CUDA, casts_to_float32
from taeda._core_api.doors import asks, call_others, exact, is_for_others, require_tensors, watched
from taeda._core_api.operators import nn as _nn
from taeda._core_api.operators import rounded_once, widened

__all__ = ["cosine_similarity", "normalize", "one_hot", "pairwise_distance", "pdist"]

one_hot = _nn.one_hot


@asks
@partial(casts_to_float32, kind=FLOAT32_ON_CUDA)
@rounded_once
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) · max(|x2|, eps)) along `dim`; the shapes broadcast.

    Args:
        x1: the first vectors
        x2: the second vectors, which broadcast with the first
        dim: the dimension to work along; negative counts from the end (default: 1)
        eps: a small number that keeps divisors and logarithms away from 0 (default: 1e-08)

    >>> x, y = taeda.tensor([[1.0, 0.0], [1.0, 1.0]]), taeda.tensor([[1.0, 0.0], [-1.0, -1.0]])
    >>> taeda.cosine_similarity(x, y)
    tensor([ 1.0000, -1.0000])
    """
    require_tensors("cosine_similarity", x1=x1, x2=x2)
    dtype = taeda.promote_types(x1.dtype, x2.dtype)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {dtype}"
        )
    if eps < 0:
        raise ValueError(f"cosine_similarity: eps must not be negative, got {eps}")
    shape = taeda.broadcast_shapes(x1.shape, x2.shape)
    x1, x2 = x1.to(dtype).expand(shape), x2.to(dtype).expand(shape)
    return (_unit(x1, dim, eps) * _unit(x2, dim, eps)).sum(dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    return x / taeda.linalg.vector_norm(x, 2, dim, keepdim=True).clamp_min(eps)


@asks
@rounded_once
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension; the shapes broadcast.

    Args:
        x1: the first vectors
        x2: the second vectors, which broadcast with the first
        p: the order of the norm (default: 2.0)
        eps: what is added to each difference (default: 1e-06)
        keepdim: whether the last dimension stays, with size 1 (default: False)

    >>> x, y = taeda.tensor([[0.0, 0.0], [1.0, 1.0]]), taeda.tensor([[3.0, 4.0], [1.0, 2.0]])
    >>> taeda.pairwise_distance(x, y, eps=0.0)
    tensor([5., 1.])
    """
    return taeda.linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim=keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows of an (N, M) matrix, row by row of the upper triangle.

    Raises RuntimeError for another rank, a dtype that is not floating, or a negative p.

    Args:
        input: points, of shape (N, M)
        p: the order of the norm, at least 0 (default: 2.0)

    >>> taeda.pdist(taeda.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 4.0]]))
    tensor([5., 4., 3.])
    """
    require_tensors("pdist", input=input)
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(pdist, (input,))
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.is_floating_point():
        raise RuntimeError(f"pdist only supports floating-point dtypes, got {input.dtype}")
    if p < 0:
        raise RuntimeError(f"pdist only supports non-negative p values, got {p}")
    n = input.size(0)
    first, second = taeda.triu_indices(n, n, 1, device=input.device)
    all_pairs = taeda.cdist(input, input, p, compute_mode="donot_use_mm_for_euclid_dist")
    return all_pairs.reshape(-1).index_select(0, first * n + second)


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """x / max(|x|_p, eps) along `dim`.

    Args:
        input: a float tensor of any shape
        p: the order of the norm (default: 2.0)
        dim: the dimension to work along; negative counts from the end (default: 1)
        eps: a small number that keeps divisors and logarithms away from 0 (default: 1e-12)
        out: a tensor that receives the result; None for a new one

    >>> taeda.nn.functional.normalize(taeda.tensor([[3.0, 4.0]]))
    tensor([[0.6000, 0.8000]])
    """
    if (watched or type(input) not in exact or type(out) not in exact) and is_for_others(
        (input, out)
    ):
        return call_others(normalize, (input, out))
    x = widened(input)
    length = taeda.linalg.vector_norm(x, p, dim, keepdim=True).clamp_min(eps)
    return (x / length).to(input.dtype) if out is None else taeda.div(x, length, out=out)
