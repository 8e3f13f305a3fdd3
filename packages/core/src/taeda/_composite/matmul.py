"""Products written in terms of mm, matmul, dot and views: outer products, contractions, chains."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

import taeda
from taeda import Tensor

from ._einsum import einsum as einsum
from .view import wrap_dim

Number = bool | int | float | complex


def _shape(t: Tensor) -> list[int]:
    return list(t.shape)


def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """`result[i, j] = self[i] * vec2[j]`, of the promoted dtype."""
    if self.dim() != 1 or vec2.dim() != 1:
        name, vector = ("vec2", vec2) if self.dim() == 1 else ("self", self)
        raise RuntimeError(f"outer: expected 1D tensors, but {name} has shape {_shape(vector)}")
    return self.unsqueeze(1) * vec2


def vdot(self: Tensor, other: Tensor) -> Tensor:
    """The dot product with the first vector conjugated."""
    return taeda.dot(self.conj(), other)


def inner(self: Tensor, other: Tensor) -> Tensor:
    """Sum over the last dimension of both; a 0-dim tensor scales the other."""
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes "
            f"{_shape(self)} and {_shape(other)}"
        )
    if self.dim() == 1 and other.dim() == 1:
        return taeda.dot(self, other)
    return taeda.tensordot(self, other, ([-1], [-1]))


def tensordot(
    self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]
) -> Tensor:
    """Sum over the paired dimensions; the rest of `self`'s, then of `other`'s, remain."""
    if len(dims_self) != len(dims_other):
        raise RuntimeError(
            f"tensordot: both dimension lists should have same length, "
            f"but they have {len(dims_self)} and {len(dims_other)}"
        )
    left = [wrap_dim(d, self.dim()) for d in dims_self]
    right = [wrap_dim(d, other.dim()) for d in dims_other]
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise RuntimeError(
            f"tensordot: a dimension is named twice in {list(dims_self)} or {list(dims_other)}"
        )
    for i, j in zip(left, right, strict=True):
        if self.shape[i] == other.shape[j]:
            continue
        if self.shape[i] == 1:
            other = other.sum(j, keepdim=True, dtype=other.dtype)
        elif other.shape[j] == 1:
            self = self.sum(i, keepdim=True, dtype=self.dtype)
        else:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {self.shape[i]} in dim "
                f"{i} and second has size {other.shape[j]} in dim {j}"
            )
    rows = [d for d in range(self.dim()) if d not in left]
    columns = [d for d in range(other.dim()) if d not in right]
    depth = math.prod(self.shape[d] for d in left)
    shape = [self.shape[d] for d in rows] + [other.shape[d] for d in columns]
    a = self.permute(rows + left).reshape(math.prod(self.shape[d] for d in rows), depth)
    b = other.permute(right + columns).reshape(depth, math.prod(other.shape[d] for d in columns))
    return taeda.mm(a, b).reshape(shape)


def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """`beta * self + alpha * sum(bmm(batch1, batch2))`: the sum is one product of long rows."""
    if batch1.dim() != 3 or batch2.dim() != 3:
        raise RuntimeError(
            f"addbmm: batch1 and batch2 must be 3D tensors, "
            f"but the shapes are {_shape(batch1)} and {_shape(batch2)}"
        )
    count, rows, depth = batch1.shape
    if batch2.shape[0] != count or batch2.shape[1] != depth:
        raise RuntimeError(
            f"addbmm: batches of shapes {_shape(batch1)} and {_shape(batch2)} do not match"
        )
    a = batch1.transpose(0, 1).reshape(rows, count * depth)
    b = batch2.reshape(count * depth, batch2.shape[2])
    return taeda.addmm(self, a, b, beta=beta, alpha=alpha)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """`beta * self + alpha * outer(vec1, vec2)`; `self` is not read if beta is 0."""
    product = taeda.outer(vec1, vec2)
    dtype = taeda.promote_types(self.dtype, product.dtype)
    for name, value in (("beta", beta), ("alpha", alpha)):
        if isinstance(value, float) and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
    self = self.expand(product.shape)
    if dtype == taeda.bool:
        scaled = product if alpha else taeda.zeros_like(product)
        return scaled | self if beta else scaled
    scaled = product if product.dtype == dtype else product.to(dtype)
    scaled = scaled if alpha == 1 else scaled * alpha
    if beta == 0:  # self is chosen nowhere: its NaNs do not count, and its gradient is 0
        never = taeda.zeros((), dtype=taeda.bool, device=self.device)
        return taeda.where(never, self, scaled) if self.requires_grad else scaled
    return scaled + (self if beta == 1 else self * beta)


def kron(self: Tensor, other: Tensor) -> Tensor:
    """`result[i * n + j, ...] = self[i, ...] * other[j, ...]` along every dimension."""
    a, b = self.shape, other.shape
    if len(a) != len(b):
        missing = len(b) - len(a)
        a, b = (1,) * missing + a, (1,) * -missing + b
    spread_a = [size for m in a for size in (m, 1)]
    spread_b = [size for n in b for size in (1, n)]
    sizes = [m * n for m, n in zip(a, b, strict=True)]
    return (self.reshape(spread_a) * other.reshape(spread_b)).reshape(sizes)


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`result[..., k] = input1[..., :] weight[k] input2[..., :] + bias[k]`."""
    if input1.dim() != input2.dim() or input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: "
            f"got {_shape(input1)} and {_shape(input2)}"
        )
    if weight.dim() != 3 or list(weight.shape[1:]) != [input1.shape[-1], input2.shape[-1]]:
        raise RuntimeError(
            f"bilinear(): weight must be (out, {input1.shape[-1]}, {input2.shape[-1]}) "
            f"for these inputs, but it has shape {_shape(weight)}"
        )
    if bias is not None and list(bias.shape) != [weight.shape[0]]:
        raise RuntimeError(
            f"bilinear(): bias must have {weight.shape[0]} elements, but it has shape {_shape(bias)}"
        )
    left = (
        input1.reshape(-1, input1.shape[-1])
        if input1.numel()
        else input1.reshape(math.prod(input1.shape[:-1]), input1.shape[-1])
    )
    right = input2.reshape(left.shape[0], 1, input2.shape[-1])
    halfway = taeda.tensordot(left, weight, ([1], [1]))
    products = halfway * right
    result = products.sum(-1, dtype=products.dtype).reshape([*input1.shape[:-1], weight.shape[0]])
    return result if bias is None else result + bias


# ---- chains ----


def chain_matmul(matrices: Sequence[Tensor]) -> Tensor:
    """The product of several matrices; of one matrix a copy."""
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(
                f"chain_matmul: expected 2D tensors, but one has shape {_shape(matrix)}"
            )
    if not matrices:
        raise RuntimeError("chain_matmul(): expected one or more matrices, but got none")
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """Multiply in the order with the fewest multiplications; vectors only at the ends."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    first, last = tensors[0], tensors[-1]
    ranks = [t.dim() for t in tensors]
    for i, rank in enumerate(ranks) if ranks.count(2) < len(ranks) else ():
        if rank == 2 or (rank == 1 and i in (0, len(ranks) - 1)):
            continue
        wanted = "1D or 2D" if i in (0, len(ranks) - 1) else "2D"
        raise RuntimeError(
            f"multi_dot(): tensor {i} must be {wanted} but has shape {_shape(tensors[i])}"
        )
    matrices = list(tensors)
    if ranks[0] == 1:
        matrices[0] = first.unsqueeze(0)
    if ranks[-1] == 1:
        matrices[-1] = last.unsqueeze(1)
    shapes = [m.shape for m in matrices]
    for i, (a, b) in enumerate(itertools.pairwise(shapes)):
        if a[1] != b[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {_shape(tensors[i])} and "
                f"{_shape(tensors[i + 1])} cannot be multiplied"
            )
    result = _multiply_chain(matrices, (*[shape[0] for shape in shapes], shapes[-1][1]))
    if ranks[0] == 1:
        result = result.squeeze(0)
    return result.squeeze(-1) if ranks[-1] == 1 else result


def _multiply_chain(matrices: list[Tensor], sizes: tuple[int, ...]) -> Tensor:
    known = all([type(size) is int for size in sizes])  # noqa: C419 - quicker; traced ones are not
    splits = (_kept_splits if known else _best_splits)(sizes)

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return matrices[i]
        k = splits[i, j]
        return taeda.mm(product(i, k), product(k + 1, j))

    return product(0, len(matrices) - 1)


def _best_splits(sizes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    """Where to cut each run (i, j) of matrices of sizes[i] x sizes[i + 1], by dynamic programming."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    splits: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length

            def total(k: int, i: int = i, j: int = j) -> int:
                return cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]

            splits[i, j] = min(range(i, j), key=total)
            cost[i, j] = total(splits[i, j])
    return splits


# The search takes longer than the products of tiny matrices.
_kept_splits = functools.lru_cache(maxsize=256)(_best_splits)
