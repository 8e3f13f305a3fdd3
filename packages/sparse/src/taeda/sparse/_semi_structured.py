"""2:4 sparsity: matrices with at most two elements other than 0 in each four of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import disabled_torch_function

from ._fours import compressed, expanded

__all__ = ["SparseSemiStructuredTensor", "to_sparse_semi_structured"]

#: rows and columns are multiples of this, as the processors want it that multiply such matrices
_MULTIPLES = {taeda.float16: 64, taeda.bfloat16: 64, taeda.int8: 128, taeda.float32: 32}
#: rows that a product expands at once: the matrix as a whole is never there
_ROWS = 256


class SparseSemiStructuredTensor(Tensor):
    """A matrix of which half of the elements is stored: of each four of a row two, and where they stand.

    Made by `to_sparse_semi_structured`. It multiplies and is multiplied by strided matrices, as the weight of
    a linear layer too, and can be transposed, copied and moved; NotImplementedError for anything else.

    Args:
        shape: (rows, columns) of the matrix.
        packed: the stored elements, (rows, columns / 2).
        meta: where they stand, two bits each: integers (rows, columns / 16) of int16, or (rows, columns / 32)
            of int32 for int8.
        transposed: whether `shape` and rows above are those of the transposed matrix (False).
        requires_grad: whether its gradient is recorded; it is a strided matrix (False).

    >>> dense = taeda.tensor([0.0, 0, 1, 2]).repeat(64, 16).half()
    >>> halved = taeda.sparse.to_sparse_semi_structured(dense)
    >>> isinstance(halved, SparseSemiStructuredTensor), halved.shape, halved.packed.shape
    (True, taeda.Size([64, 64]), taeda.Size([64, 32]))
    """

    packed: Tensor
    meta: Tensor
    transposed: bool

    __torch_function__ = staticmethod(disabled_torch_function)

    @staticmethod
    def __new__(
        cls,
        shape: Any,
        packed: Tensor,
        meta: Tensor,
        transposed: bool = False,
        requires_grad: bool = False,
    ) -> Any:
        _check_parts(shape, packed, meta, transposed)
        made: Any = Tensor._make_wrapper_subclass(
            cls, tuple(shape), dtype=packed.dtype, device=packed.device, requires_grad=requires_grad
        )
        made.packed, made.meta, made.transposed = packed, meta, transposed
        return made

    def __init__(
        self,
        shape: Any,
        packed: Tensor,
        meta: Tensor,
        transposed: bool = False,
        requires_grad: bool = False,
    ) -> None:
        """Nothing is left to do: `__new__` has made the tensor."""

    @classmethod
    def from_dense(cls, original_tensor: Tensor) -> SparseSemiStructuredTensor:
        """The same as `to_sparse_semi_structured`."""
        _check(original_tensor)
        packed, meta = compressed(original_tensor.detach())
        made: SparseSemiStructuredTensor = cls(original_tensor.shape, packed, meta)
        return made

    def values(self) -> Tensor:
        """The stored elements, (rows, columns / 2) of the matrix as it was made."""
        return self.packed.detach()

    def indices(self) -> Tensor:
        """Where the stored elements stand, as integers of two bits each."""
        return self.meta.detach()

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """The strided matrix."""
        whole = expanded(self.packed, self.meta)
        made = whole.t().contiguous() if self.transposed else whole
        return made if dtype is None else made.to(dtype)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return (
            f"{type(self).__name__}(shape={self.shape}, transposed={self.transposed}, "
            f"values={self.values()}, metadata={self.indices()})"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = tuple(self.shape), self.packed, self.meta, self.transposed, self.requires_grad
        return type(self), parts

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["packed", "meta"], (tuple(self.shape), self.transposed, self.requires_grad)

    @classmethod
    def __tensor_unflatten__(
        cls, inner: dict[str, Tensor], facts: Any, outer_size: Any, outer_stride: Any
    ) -> SparseSemiStructuredTensor:
        shape, transposed, requires_grad = facts
        made: SparseSemiStructuredTensor = cls(
            shape, inner["packed"], inner["meta"], transposed, requires_grad
        )
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        rule = None if kwargs and "out" in kwargs else _RULES.get(func)
        made = NotImplemented if rule is None else rule(*args, **(kwargs or {}))
        if made is NotImplemented:
            raise NotImplementedError(
                f"{func}: there is no kernel for a SparseSemiStructuredTensor with these arguments. Compute "
                "with its to_dense()"
            )
        return made


def to_sparse_semi_structured(
    original_tensor: Tensor, transposed: bool = False
) -> SparseSemiStructuredTensor:
    """The matrix with half of its elements stored.

    RuntimeError for a tensor that is no matrix of float16, bfloat16, float32 or int8 whose rows and
    columns are multiples of 64 (of 32 in float32, of 128 in int8), and for one with more than two
    elements other than 0 in four.

    On the cpu a product takes the time of the strided one: what is saved is memory (9/16 of float16, 10/16 of
    int8, 17/32 of float32).

    Args:
        original_tensor: a matrix.
        transposed: False; True is refused, as it is deprecated: use `t()` of the result.

    >>> import taeda
    >>> x = taeda.tensor([0.0, 0.0, 1.0, 1.0]).tile(64, 16).half()
    >>> s = taeda.sparse.to_sparse_semi_structured(x)
    >>> s.values().shape, taeda.equal(s @ x, x @ x)
    (taeda.Size([64, 32]), True)
    """
    if transposed:
        raise RuntimeError(
            "to_sparse_semi_structured: transposed=True is deprecated. Use t() of the result"
        )
    return SparseSemiStructuredTensor.from_dense(original_tensor)


def _check(x: Any) -> None:
    name = "to_sparse_semi_structured"
    if not isinstance(x, Tensor) or isinstance(x, SparseSemiStructuredTensor):
        raise TypeError(f"{name}: wanted a strided tensor, got {type(x).__name__}")
    if x.layout is not taeda.strided or x.dim() != 2:
        raise RuntimeError(
            f"{name}: wanted a strided matrix, got {x.layout} of {x.dim()} dimensions"
        )
    multiple = _MULTIPLES.get(x.dtype)
    if multiple is None:
        raise RuntimeError(
            f"{name}: {x.dtype} is not supported: convert to one of "
            f"{', '.join(map(str, _MULTIPLES))}"
        )
    rows, columns = x.shape
    if not rows or not columns or rows % multiple or columns % multiple:
        raise RuntimeError(
            f"{name}: rows and columns of {x.dtype} must be positive multiples of {multiple}, the shape "
            f"is {tuple(x.shape)}"
        )


def _check_parts(shape: Any, packed: Any, meta: Any, transposed: bool) -> None:
    """TypeError or RuntimeError for parts that no matrix of this shape has."""
    name = "SparseSemiStructuredTensor"
    if not isinstance(packed, Tensor) or not isinstance(meta, Tensor):
        raise TypeError(
            f"{name}: packed and meta are tensors, got {type(packed).__name__} and {type(meta).__name__}"
        )
    if len(shape) != 2:
        raise RuntimeError(f"{name}: wanted the two sizes of a matrix, got {tuple(shape)}")
    rows, columns = tuple(shape)[::-1] if transposed else tuple(shape)
    kind, bits = (taeda.int32, 32) if packed.dtype is taeda.int8 else (taeda.int16, 16)
    wanted = (rows, columns // 2), (rows, columns // bits), kind
    if (tuple(packed.shape), tuple(meta.shape), meta.dtype) != wanted or columns % bits:
        raise RuntimeError(
            f"{name}: a matrix of {rows} rows and {columns} columns of {packed.dtype} has packed elements of "
            f"the shape {wanted[0]}, and meta of {kind} and the shape {wanted[1]}; got "
            f"{tuple(packed.shape)}, and {meta.dtype} of {tuple(meta.shape)}. "
            "to_sparse_semi_structured makes both"
        )


# ---- what runs on it ----


def _blocks(x: SparseSemiStructuredTensor) -> Iterator[tuple[slice, Tensor]]:
    """Some rows of the matrix after the other, strided."""
    for first in range(0, x.packed.size(0), _ROWS):
        rows = slice(first, first + _ROWS)
        yield rows, expanded(x.packed[rows], x.meta[rows])


def _times(x: SparseSemiStructuredTensor, other: Tensor) -> Tensor:
    """x @ other, x not transposed."""
    return taeda.cat([block @ other for _, block in _blocks(x)])


def _transposed_times(x: SparseSemiStructuredTensor, other: Tensor) -> Tensor:
    """x.t() @ other, x not transposed; sums in float32 where the dtype is shorter."""
    wide = taeda.float32 if x.dtype.itemsize == 2 else x.dtype
    total = other.new_zeros(x.packed.size(1) * 2, other.size(1), dtype=wide)
    for rows, block in _blocks(x):
        total += block.t().to(wide) @ other[rows].to(wide)
    return total.to(x.dtype)


def _mm(a: Tensor, b: Tensor) -> Any:
    if isinstance(a, SparseSemiStructuredTensor):
        if isinstance(b, SparseSemiStructuredTensor):
            return NotImplemented
        _check_sizes(a, b)
        return (_transposed_times if a.transposed else _times)(a, b)
    made = _mm(_t(b), a.t())
    return made if made is NotImplemented else made.t().contiguous()


def _check_sizes(a: Tensor, b: Tensor) -> None:
    if b.dim() != 2 or a.size(1) != b.size(0) or a.dtype != b.dtype:
        raise RuntimeError(
            f"mm: shapes cannot be multiplied, or dtypes differ: {tuple(a.shape)} of {a.dtype} and "
            f"{tuple(b.shape)} of {b.dtype}"
        )


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    if isinstance(bias, SparseSemiStructuredTensor):
        return NotImplemented
    made = _mm(a, b)
    if made is NotImplemented:
        return made
    if not made.is_floating_point() and not (isinstance(alpha, int) and isinstance(beta, int)):
        raise RuntimeError(
            f"addmm: beta and alpha of {made.dtype} are integers, got {beta} and {alpha}"
        )
    made = made if alpha == 1 else made * alpha
    added = _bias(bias, made)
    # with a beta of 0 the bias is not read, NaN or not
    return made if beta == 0 else taeda.add(made, added, alpha=beta)


def _bias(bias: Tensor, made: Tensor) -> Tensor:
    """What is added to a product, in its shape; RuntimeError if it does not fit."""
    if bias.dtype != made.dtype:
        raise RuntimeError(
            f"the bias has the dtype {bias.dtype}, and the product {made.dtype}: convert the bias"
        )
    return bias.expand(made.shape)


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    if isinstance(x, SparseSemiStructuredTensor):
        return NotImplemented
    flat = x.reshape(-1, x.size(-1))
    made = _mm(flat, _t(weight)) if isinstance(weight, SparseSemiStructuredTensor) else None
    if made is None:
        return NotImplemented
    whole = made.reshape(*x.shape[:-1], made.size(-1))
    return whole if bias is None else whole + _bias(bias, whole)


def _like(x: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """The same matrix, of changed parts."""
    return type(x)(x.shape, change(x.packed), change(x.meta), x.transposed)


def _t(x: Any) -> Any:
    return type(x)(tuple(x.shape)[::-1], x.packed, x.meta, not x.transposed)


def _transpose(x: Any, dim0: int, dim1: int) -> Any:
    for dim in (dim0, dim1):
        if not -2 <= dim < 2:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-2, 1], but got {dim})"
            )
    return _t(x) if dim0 % 2 != dim1 % 2 else _detach(x)


def _detach(x: Any) -> Any:
    return _like(x, lambda part: part.detach())


def _clone(x: Any, *, memory_format: Any = None) -> Any:
    return _like(x, lambda part: part.clone())


def _view(x: Any, size: Any) -> Any:
    return _detach(x) if tuple(size) in ((-1, x.size(1)), tuple(x.shape)) else NotImplemented


def _to_copy(x: Any, *, dtype: Any = None, device: Any = None, **more: Any) -> Any:
    if dtype not in (None, x.dtype):
        return NotImplemented
    return _like(x, lambda part: part.to(device or part.device, copy=True))


_aten: Any = taeda.ops.aten
_RULES: dict[Any, Callable[..., Any]] = {
    _aten.mm.default: _mm,
    _aten.matmul.default: _mm,
    _aten.addmm.default: _addmm,
    _aten.linear.default: _linear,
    _aten.t.default: _t,
    _aten.transpose.int: _transpose,
    _aten.detach.default: _detach,
    _aten.alias.default: _detach,
    _aten.clone.default: _clone,
    _aten.view.default: _view,
    _aten._to_copy.default: _to_copy,
}
