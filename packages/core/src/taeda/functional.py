"""Functions of any number of tensors (`meshgrid(x, y)` is the same as `meshgrid([x, y])`) or of results."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from taeda._warnings import warn

from ._layers.doors import asks, require_tensors
from ._native import core as _core

if TYPE_CHECKING:
    from taeda import Size, Tensor, memory_format
else:
    Tensor, Size, memory_format = _core.Tensor, _core.Size, _core.memory_format
_ops = _core.functions["functional"]
# operators that programs also find here
cdist, istft, norm, split, stft, unravel_index = (
    _core.functions[""][_name]
    for _name in ("cdist", "istft", "norm", "split", "stft", "unravel_index")
)

__all__ = [
    "align_tensors",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "broadcast_tensors",
    "cartesian_prod",
    "chain_matmul",
    "einsum",
    "histogramdd",
    "lu",
    "meshgrid",
    "pca_lowrank",
    "resize_as_",
    "svd_lowrank",
    "tensordot",
    "unique",
    "unique_consecutive",
]


def _listed(tensors: tuple[Any, ...]) -> Sequence[Tensor]:
    """The tensors of `f(x, y)` or of `f([x, y])`."""
    return tensors[0] if len(tensors) == 1 and isinstance(tensors[0], list | tuple) else tensors


@asks
def align_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of the tensors with the dimensions of the one that has most of them, in its order.

    RuntimeError if a dimension has no name, or none of that one's.

    Args:
        *tensors: tensors whose dimensions have names.

    >>> a, b = taeda.zeros(2, names=("C",)), taeda.zeros(3, 2, names=("N", "C"))
    >>> align_tensors(a, b)[0].shape
    taeda.Size([1, 2])
    """
    from ._names.align import align_tensors as aligned  # late: it needs Tensor complete

    return aligned(tensors)


def broadcast_shapes(*shapes: Sequence[int] | int) -> Size:
    """The shape that all of `shapes` expand to; a single int is a shape of one dimension.

    Dimensions match from the last; RuntimeError names two sizes that do not.

    Args:
        *shapes: sequences of sizes, or single sizes; RuntimeError for a negative one.

    >>> broadcast_shapes((3, 1), (4,), 1)
    taeda.Size([3, 4])
    """
    lists = [[s] if isinstance(s, int) else list(s) for s in shapes]
    rank = max(map(len, lists), default=0)
    made = [1] * rank
    for shape in lists:
        for d, size in enumerate(shape, rank - len(shape)):
            if size < 0:
                raise RuntimeError(f"broadcast_shapes: negative size {size} in {shape}")
            if made[d] != size and made[d] != 1 and size != 1:
                raise RuntimeError(
                    f"broadcast_shapes: sizes {made[d]} and {size} do not match at dimension {d} "
                    f"of {[tuple(s) for s in lists]}"
                )
            made[d] = size if made[d] == 1 else made[d]
    return Size(made)


@asks
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Expand all tensors to their common shape; results share memory with the arguments.

    Args:
        *tensors: tensors whose shapes match from the last dimension on, or one list of them.

    >>> [t.shape for t in broadcast_tensors(taeda.ones(3, 1), taeda.ones(4))]
    [taeda.Size([3, 4]), taeda.Size([3, 4])]
    """
    return _ops["broadcast_tensors"](_listed(tensors))


@asks
def meshgrid(*tensors: Tensor, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Coordinates of the grid that vectors span: one expanded tensor per vector.

    `indexing` is "ij" (the i-th vector runs along dimension i) or "xy" (the first two exchanged); leaving it
    out means "ij" and warns. RuntimeError for tensors of rank 2 or more and for different dtypes.

    Args:
        *tensors: vectors, or tensors without dimensions, of one dtype; or one list of them.
        indexing: "ij" for a result whose dimensions follow the order of the tensors, "xy" for
            the first two exchanged; None (the default) for "ij", with a warning.

    >>> meshgrid(taeda.arange(2), taeda.arange(3), indexing="ij")[0].tolist()
    [[0, 0, 0], [1, 1, 1]]
    """
    if indexing is None:
        warn(
            "meshgrid: pass indexing='ij' or 'xy'; without it 'ij' is meant",
            UserWarning,
        )
    return _ops["meshgrid"](_listed(tensors), indexing=indexing or "ij")


@asks
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the elements of vectors, as rows; the last vector runs fastest.

    Args:
        *tensors: vectors, or one list of them.

    >>> cartesian_prod(taeda.tensor([1, 2]), taeda.tensor([3, 4])).tolist()
    [[1, 3], [1, 4], [2, 3], [2, 4]]
    """
    return _ops["cartesian_prod"](_listed(tensors))


@asks
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices one after the other along the diagonal, zeros elsewhere; vectors are rows.

    Args:
        *tensors: tensors of at most two dimensions, or one list of them.

    >>> block_diag(taeda.ones(1, 2), taeda.ones(1, 1)).tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return _ops["block_diag"](_listed(tensors))


def _atleast(rank: int, tensors: tuple[Any, ...]) -> Tensor | tuple[Tensor, ...]:
    call = _ops[f"atleast_{rank}d"]
    return call(tensors[0]) if len(tensors) == 1 else call(tensors)


@asks
def atleast_1d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """A 0-dim tensor gets one dimension; several tensors give a tuple.

    Args:
        *tensors: one tensor, which gives one, or several or a list, which give a tuple.

    >>> atleast_1d(taeda.tensor(5)).shape
    taeda.Size([1])
    """
    return _atleast(1, tensors)


@asks
def atleast_2d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """A vector becomes a row; several tensors give a tuple.

    Args:
        *tensors: one tensor, which gives one, or several or a list, which give a tuple.

    >>> atleast_2d(taeda.ones(3)).shape
    taeda.Size([1, 3])
    """
    return _atleast(2, tensors)


@asks
def atleast_3d(*tensors: Tensor) -> Tensor | tuple[Tensor, ...]:
    """A vector becomes (1, n, 1), a matrix (n, m, 1); several tensors give a tuple.

    Args:
        *tensors: one tensor, which gives one, or several or a list, which give a tuple.

    >>> atleast_3d(taeda.ones(3)).shape
    taeda.Size([1, 3, 1])
    """
    return _atleast(3, tensors)


# ---- one result or several ----


def _asked(
    results: tuple[Tensor, Tensor, Tensor], inverse: bool, counts: bool
) -> Tensor | tuple[Tensor, ...]:
    values = results[0]
    if not inverse and not counts:
        return values
    return (values, *[results[1]] * inverse, *[results[2]] * counts)


@asks
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The different elements in ascending order, or the different slices of a dimension.

    With `return_inverse` also which of them every element is, with `return_counts` how often each occurs.
    Every NaN is different.

    Args:
        input: a tensor of any shape.
        sorted: whether the values rise; True by default.
        return_inverse: whether the place in the result of each element (each slice) is given
            too, int64 (default: False).
        return_counts: whether the number of times that each occurs is given too, int64
            (default: False).
        dim: the dimension whose slices are compared; None compares elements of the flattened
            tensor.

    >>> unique(taeda.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    ops = _core.functions[""]
    if dim is None:
        made = ops["_unique2"](input, sorted, return_inverse, return_counts)
    else:
        made = ops["unique_dim"](input, dim, sorted, return_inverse, return_counts)
    return _asked(made, return_inverse, return_counts)


@asks
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Tensor | tuple[Tensor, ...]:
    """The first of every run of equal elements, or of equal slices of a dimension.

    Args:
        input: a tensor of any shape.
        return_inverse: whether the run of each element (each slice) is given too, int64
            (default: False).
        return_counts: whether the length of each run is given too, int64 (default: False).
        dim: the dimension whose slices are compared; None compares elements of the flattened
            tensor.

    >>> unique_consecutive(taeda.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    made = _core.functions[""]["_unique_consecutive"](input, return_inverse, return_counts, dim)
    return _asked(made, return_inverse, return_counts)


@asks
def lu(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: tuple[Tensor, ...] | None = None
) -> tuple[Tensor, ...]:
    """`linalg.lu_factor` under its older name: (LU, pivots), with `get_infos` also which pivot is zero.

    Args:
        A: matrices (..., m, n).
        pivot: whether rows are exchanged; True by default.
        get_infos: whether a third result tells the first pivot that is zero, counted from 1, or
            0 (default: False).
        out: a tuple of as many tensors as there are results; they are resized and written. None
            (the default) for new ones.

    >>> lu(taeda.tensor([[2.0, 1.0], [1.0, 1.0]]))[1].tolist()
    [1, 2]
    """
    made = tuple(_core.functions["linalg"]["lu_factor_ex"](A, pivot=pivot))[: 3 if get_infos else 2]
    if out is None:
        return made
    return tuple(o.resize_(m.shape).copy_(m) for o, m in zip(out, made, strict=True))


@asks
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """About the q largest singular values of A (of A - M), with their vectors: (U, S, V) with A
    near U diag(S) V^H.

    A random projection, sharpened by `niter` steps of subspace iteration (Halko, Martinsson and
    Tropp 2011). Draws from the default generator. ValueError for a negative q or niter.

    Args:
        A: matrices (..., m, n), dense or sparse.
        q: the number of singular values, 0 or more; 6 by default and for None.
        niter: steps of subspace iteration, 0 or more; 2 by default and for None.
        M: what is taken from A, of its shape or one that expands to it; nothing where it is None.

    >>> svd_lowrank(taeda.ones(4, 3), q=1)[1].shape
    taeda.Size([1])
    """
    require_tensors("svd_lowrank", A=A)
    linalg, randn = _core.functions["linalg"], _core.functions[""]["randn"]
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if q < 0 or niter < 0:
        raise ValueError(f"svd_lowrank: q={q} and niter={niter} must be non-negative integers")
    wide = A.size(-2) < A.size(-1)
    times, turned = _products(A, M)
    times, turned = (turned, times) if wide else (times, turned)
    test = randn(A.size(-2 if wide else -1), q, dtype=A.dtype, device=A.device)
    basis = linalg["qr"](times(test))[0]
    for _ in range(niter):
        basis = linalg["qr"](turned(basis))[0]
        basis = linalg["qr"](times(basis))[0]
    u, values, vh = linalg["svd"](turned(basis).mH, full_matrices=False)
    left, right = basis @ u, vh.mH
    return (right, values, left) if wide else (left, values, right)


def _products(A: Tensor, M: Tensor | None) -> tuple[Callable[[Tensor], Tensor], ...]:
    """What A - M and its adjoint do to a matrix; a sparse A stays sparse."""
    if A.layout is _core.strided or M is None:
        x = A if M is None else A - M
        return lambda v: x @ v, lambda v: x.mH @ v
    less = M if M.layout is _core.strided else M.to_dense()
    rows = less.size(-2) == 1  # the same row for all

    def turned(v: Tensor) -> Tensor:
        return A.mH @ v - less.mH @ (v.sum(-2, keepdim=True) if rows else v)

    return lambda v: A @ v - less @ v, turned


@asks
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """The principal components of the rows of A: `svd_lowrank` of A without the mean of its columns.

    `q` is min(6, m, n) unless given. ValueError if it is larger than a side of A, or niter negative.

    Args:
        A: matrices (..., m, n), one sample to a row.
        q: the number of components, 0 to min(m, n); None (the default) for min(6, m, n).
        center: whether the mean of the columns is taken off first; True by default.
        niter: steps of subspace iteration, 0 or more; 2 by default.

    >>> pca_lowrank(taeda.ones(4, 3), q=2)[1].tolist()
    [0.0, 0.0]
    """
    require_tensors("pca_lowrank", A=A)
    sides = A.shape[-2:]
    q = min(6, *sides) if q is None else q
    if not 0 <= q <= min(sides):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(sides)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    mean = A.mean(-2, keepdim=True) if center else None
    return svd_lowrank(A, q, niter, mean)


class Histogramdd(NamedTuple):
    """What `histogramdd` returns."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


@asks
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogramdd:
    """How many points lie in the cells of a grid; the last dimension of `input` holds a point's coordinates.

    `bins` is a number of bins for all dimensions, a list of numbers, or a list of vectors of edges; `range` a
    lower and an upper end for each dimension. With `density` the sum over cells of count times volume is 1.
    RuntimeError for lists that do not fit the dimensions.

    Args:
        input: points (..., n), of at least two dimensions.
        bins: a count for all n dimensions, or a list of n counts or n vectors of rising edges.
        range: 2 n numbers, the lower and the upper end of each dimension; None takes those of the
            points.
        weight: how much each point counts, of the shape of `input` without its last dimension; 1
            each where it is None.
        density: whether counts are divided by the sum of all and by each cell's volume; False by
            default.

    >>> histogramdd(taeda.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [2, 2]).hist.tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    require_tensors("histogramdd", input=input)
    from ._composite.statistics import even_edges, grid_counts

    if input.dim() < 2:
        raise RuntimeError(
            f"histogramdd(): input tensor should have at least 2 dimensions, but got {input.dim()}"
        )
    n = input.size(-1)
    wanted = [bins] * n if isinstance(bins, int) else list(bins)
    if len(wanted) != n:
        raise RuntimeError(
            f"histogramdd(): the innermost dimension of input ({n}) should have as many bins, but "
            f"got {len(wanted)}"
        )
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(
            f"histogramdd(): for a {n}-dimensional histogram range should have {2 * n} elements, "
            f"but got {len(range)}"
        )
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "histogramdd(): if weight tensor is provided it should have the same shape as the "
            "input tensor excluding "
            f"its innermost dimension, but got {list(weight.shape)} for {list(input.shape)}"
        )
    points = input.reshape(-1, n)
    edges = [
        b
        if isinstance(b, Tensor)
        else even_edges(
            "histogramdd()",
            points[:, d],
            b,
            None if range is None else range[2 * d : 2 * d + 2],
        )
        for d, b in enumerate(wanted)
    ]
    flat = None if weight is None else weight.reshape(-1)
    return Histogramdd(grid_counts("histogramdd()", points, edges, flat, density), tuple(edges))


@asks
def resize_as_(
    input: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None
) -> Tensor:
    """The sizes of another tensor, in place: see `Tensor.resize_`.

    Args:
        input: the tensor that changes.
        the_template: the tensor whose shape is taken.
        memory_format: the order of the result in memory; None keeps it contiguous.

    >>> resize_as_(taeda.ones(2), taeda.ones(2, 1)).shape
    taeda.Size([2, 1])
    """
    require_tensors("resize_as_", input=input, the_template=the_template)
    return input.resize_as_(the_template, memory_format=memory_format)


@asks
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of matrices, in the order with the fewest multiplications; of one matrix a copy.

    RuntimeError for what is no matrix, and without arguments.

    Args:
        *matrices: one or more matrices, the columns of each as many as the rows of the next.
        out: a tensor that the product is written into; None (the default) for a new one.

    >>> chain_matmul(taeda.ones(2, 3), taeda.ones(3, 4), taeda.ones(4, 1)).tolist()
    [[12.0], [12.0]]
    """
    return _core.functions[""]["chain_matmul"](matrices, out=out)


def _apart(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands of `einsum` one by one, also where they came as a list."""
    listed = len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], list | tuple)
    return (args[0], *args[1]) if listed else args


@partial(asks, form=_apart)
def einsum(*args: Any) -> Tensor:
    """Sum of products by Einstein's convention: `einsum("ij,jk->ik", a, b)`, or with numbered
    dimensions after each tensor.

    RuntimeError for subscripts that do not fit the tensors.

    >>> taeda.einsum("i,i->", taeda.ones(3), taeda.ones(3))
    tensor(3.)
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or operands with "
            "their subscript lists"
        )
    call = _core.functions[""]["einsum"]
    if not isinstance(args[0], str):
        return call(*_from_sublists(args))
    operands = args[1:]
    return call(
        args[0],
        list(
            operands[0]
            if len(operands) == 1 and isinstance(operands[0], list | tuple)
            else operands
        ),
    )


def _from_sublists(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    """(equation, operands) of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""
    result = args[-1] if len(args) % 2 else None
    pairs = args[: len(args) - (result is not None)]
    terms = ",".join(_letters(subscripts) for subscripts in pairs[1::2])
    return terms if result is None else f"{terms}->{_letters(result)}", list(pairs[::2])


def _letters(subscripts: Sequence[Any]) -> str:
    """Dimension numbers 0 to 51 as letters, Ellipsis as three dots."""
    alphabet = string.ascii_uppercase + string.ascii_lowercase
    for number in subscripts:
        if number is not Ellipsis and not 0 <= number < len(alphabet):
            raise RuntimeError(
                f"einsum(): not within the valid range [0, {len(alphabet)}), got {number}"
            )
    return "".join("..." if n is Ellipsis else alphabet[n] for n in subscripts)


@asks
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """Products summed over pairs of dimensions: the last `dims` of `a` with the first of `b`, or two lists.

    RuntimeError for a negative number or one larger than either rank, and for sizes that differ.

    Args:
        a, b: tensors of one dtype, of any shapes whose summed dimensions have the same sizes.
        dims: a number of dimensions, 2 by default; or a pair of lists, those of `a` and those of
            `b`.
        out: a tensor of the result's shape that it is copied into; None (the default) for a new
            one.

    >>> tensordot(taeda.ones(2, 3), taeda.ones(3, 4), 1).shape
    taeda.Size([2, 4])
    """
    require_tensors("tensordot", a=a, b=b)
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.dim(), b.dim()):
            raise RuntimeError(
                f"tensordot expects dims >= 0 and at most the rank of both, but got dims={dims} "
                f"for ranks {a.dim()} and {b.dim()}"
            )
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else list(d) for d in dims)
    made = _core.functions[""]["tensordot"](a, b, left, right)
    return made if out is None else out.copy_(made)
