"""Products that stay sparse, that look at some places alone, and what undoes a product."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks, require_tensors
from taeda.autograd import Function

from ._compressed import Compressed
from ._convert import to_coo
from ._graph import built, raw_entries
from ._parts import Coo, parts_of, tensor_of
from ._products import product, rows_of
from ._rows import has_kernels, row_numbers

__all__ = ["hspmm", "sampled_addmm", "smm", "spsolve", "sspaddmm"]


def _require_matrices(name: str, sparse: Tensor, strided: Tensor) -> None:
    if sparse.layout is taeda.strided or strided.layout is not taeda.strided:
        raise RuntimeError(
            f"{name}: wanted a sparse and a strided matrix, but got {sparse.layout} and {strided.layout}"
        )


@asks
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a strided matrix, with one sparse dimension: the rows that have entries.

    Args:
        mat1: a sparse matrix (n x m).
        mat2: a strided matrix (m x p).

    >>> import taeda
    >>> x = taeda.sparse_coo_tensor([[2], [0]], [3.0], (4, 2))
    >>> taeda.hspmm(x, taeda.ones(2, 2)).coalesce().indices()
    tensor([[2]])
    """
    require_tensors("hspmm", mat1=mat1, mat2=mat2)
    _require_matrices("hspmm", mat1, mat2)
    made = product(mat1, mat2)
    crow, _, _ = rows_of(mat1)
    rows = (crow.diff() > 0).nonzero().squeeze(1)
    values = made[rows]
    return built(Coo(rows.unsqueeze(0), values.detach(), True), values, made.shape)


@asks
def smm(input: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse matrix `input` and a strided matrix `mat` as a sparse one, by coordinates: all
    elements of the rows that have entries.

    Args:
        input: a sparse matrix (n x m).
        mat: a strided matrix (m x p).

    >>> import taeda
    >>> x = taeda.sparse_coo_tensor([[2], [0]], [3.0], (4, 2))
    >>> taeda.smm(x, taeda.ones(2, 2))._nnz()
    2
    """
    require_tensors("smm", input=input, mat=mat)
    _require_matrices("smm", input, mat)
    parts, values = raw_entries(hspmm(input, mat))
    columns = values.shape[1]
    rows = parts.indices[0].repeat_interleave(columns)
    along = taeda.arange(columns, device=values.device).repeat(parts.indices.size(1))
    flat = values.reshape(-1)
    size = (input.shape[0], columns)
    return built(Coo(taeda.stack([rows, along]), flat.detach(), True), flat, size)


@asks
def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2), by coordinates.

    Args:
        input: a sparse matrix (n x p).
        mat1: a sparse matrix (n x m).
        mat2: a strided matrix (m x p).
        beta, alpha: factors of the two terms (default: 1).

    >>> import taeda
    >>> x = taeda.eye(2).to_sparse()
    >>> taeda.sspaddmm(x, x, taeda.ones(2, 2)).to_dense()
    tensor([[2., 1.],
            [1., 2.]])
    """
    require_tensors("sspaddmm", input=input, mat1=mat1, mat2=mat2)
    if input.layout is taeda.strided:
        raise RuntimeError("sspaddmm: wanted a sparse input, but its layout is taeda.strided")
    made = smm(mat1, mat2)
    if made.shape != input.shape:
        raise RuntimeError(
            f"sspaddmm: the input has the shape {tuple(input.shape)}, the product {tuple(made.shape)}"
        )
    return taeda.add(to_coo(input) * beta, made, alpha=alpha)


def sampled_addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: float = 1.0,
    alpha: float = 1.0,
    out: Any = None,
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2) at the places of `input`, and nowhere else.

    Args:
        input: a matrix of the layout sparse_csr (n x p), or batches of them.
        mat1: a strided matrix (n x m), or batches.
        mat2: a strided matrix (m x p), or batches.
        beta, alpha: factors of the two terms (default: 1.0).
        out: None; or a tensor of the layout sparse_csr, which takes the result over.

    >>> import taeda
    >>> x = taeda.eye(2).to_sparse_csr()
    >>> taeda.sparse.sampled_addmm(x, taeda.ones(2, 3), taeda.ones(3, 2)).to_dense()
    tensor([[4., 0.],
            [0., 4.]])
    """
    require_tensors("sampled_addmm", input=input, mat1=mat1, mat2=mat2)
    parts = parts_of(input)
    if input.layout is not taeda.sparse_csr:
        raise NotImplementedError(
            f"sampled_addmm expected input of layout taeda.sparse_csr but got {input.layout}"
        )
    _check_sampled(input, mat1, mat2)
    found = _sampled(parts, mat1, mat2).reshape(parts.values.shape)
    scaled = found if alpha == 1 else found * alpha
    if beta != 0 and taeda.is_grad_enabled() and input.requires_grad:
        made = _Plus.apply(built(parts, scaled, input.shape), input, beta)
    else:
        made = built(parts, scaled if beta == 0 else scaled + parts.values * beta, input.shape)
    return made if out is None else out.copy_(made)


class _Plus(Function):
    """made + beta * x, of the same places. A gradient of `x` has the layout of that of the result: who asks
    with a strided one gets all of its elements.
    """

    @staticmethod
    def forward(ctx: Any, made: Tensor, x: Tensor, beta: Any) -> Any:
        ctx.beta = beta.conjugate()
        parts = parts_of(x)
        return tensor_of(parts.like(parts_of(made).values + parts.values * beta), x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0], gradients[0] * ctx.beta, None


def _check_sampled(x: Tensor, a: Tensor, b: Tensor) -> None:
    if a.layout is not taeda.strided or b.layout is not taeda.strided:
        raise RuntimeError(
            f"sampled_addmm: factors must be strided, but are {a.layout} and {b.layout}"
        )
    fits = a.dim() == b.dim() == x.dim() and a.shape[:-2] == b.shape[:-2] == x.shape[:-2]
    fits = fits and a.shape[-1] == b.shape[-2] and (a.shape[-2], b.shape[-1]) == tuple(x.shape[-2:])
    if not fits:
        raise RuntimeError(
            f"sampled_addmm: a product of {tuple(a.shape)} and {tuple(b.shape)} has no places in "
            f"{tuple(x.shape)}"
        )
    if not x.dtype is a.dtype is b.dtype:
        raise RuntimeError(
            f"sampled_addmm: dtypes must be equal, but are {x.dtype}, {a.dtype} and {b.dtype}"
        )


def _sampled(parts: Compressed, a: Tensor, b: Tensor) -> Tensor:
    """a @ b at the places of `parts`, batch by batch."""
    if parts.plain.dim() > 1:
        count = parts.compressed[..., 0].numel()
        one = Compressed(
            parts.layout,
            parts.compressed.reshape(count, -1),
            parts.plain.reshape(count, -1),
            parts.values,
        )
        a, b = a.reshape(count, *a.shape[-2:]), b.reshape(count, *b.shape[-2:])
        rows = [_at(one.compressed[n], one.plain[n], a[n], b[n]) for n in range(count)]
        return taeda.stack(rows) if rows else parts.values.new_empty(0)
    return _at(parts.compressed, parts.plain, a, b)


def _at(crow: Tensor, col: Tensor, a: Tensor, b: Tensor) -> Tensor:
    if a.dtype in (taeda.float32, taeda.float64) and has_kernels(a):
        return taeda._csr_sampled(crow, col, a, b.t())
    rows = a.index_select(0, row_numbers(crow, col.numel()))
    return (rows * b.t().index_select(0, col.long())).sum(1)


# ---- the solution of A x = b ----


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """x with input @ x = other, of a square matrix of the layout sparse_csr; by SuperLU, which scipy brings.

    Args:
        input: a square matrix (n x n) of float32 or float64 that has an inverse.
        other: the right side: a strided vector (n) or matrix (n x p).
        left: only True.

    Both get gradients: `input` at its places. ImportError without scipy, RuntimeError for a matrix without an
    inverse.

    >>> import taeda
    >>> x = taeda.tensor([[2.0, 0.0], [1.0, 4.0]]).to_sparse_csr()
    >>> taeda.sparse.spsolve(x, taeda.tensor([2.0, 9.0]))
    tensor([1., 2.])
    """
    require_tensors("spsolve", input=input, other=other)
    if input.layout is not taeda.sparse_csr:
        raise NotImplementedError(
            f"spsolve expected a tensor of layout taeda.sparse_csr but got {input.layout}"
        )
    if not left:
        raise RuntimeError("spsolve: left=False is not supported: solve with the transposed matrix")
    if input.dim() != 2 or input.shape[0] != input.shape[1] or other.dim() not in (1, 2):
        raise RuntimeError(
            f"spsolve: wanted a square matrix and a vector or matrix, got {tuple(input.shape)} and "
            f"{tuple(other.shape)}"
        )
    if other.shape[0] != input.shape[0] or input.dtype is not other.dtype:
        raise RuntimeError(
            f"spsolve: {tuple(input.shape)} of {input.dtype} and {tuple(other.shape)} of {other.dtype} do "
            "not fit"
        )
    if input.dtype not in (taeda.float32, taeda.float64):
        raise RuntimeError(f"spsolve: wanted float32 or float64, got {input.dtype}")
    crow, col, values = rows_of(input)
    made: Tensor = _Solve.apply(values, other, crow, col)
    return made


class _Solve(Function):
    """A x = b: the gradient of b solves with A transposed, that of A is its product with x at A's places."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, other: Tensor, crow: Tensor, col: Tensor) -> Any:
        made = _solved(values, other, crow, col, False)
        ctx.save_for_backward(values, made, crow, col)
        return made

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        values, made, crow, col = ctx.saved_tensors
        right = _solved(values, gradients[0], crow, col, True)
        rows, columns = row_numbers(crow), col.long()
        own = -(right[rows] * made[columns])
        return own.sum(1) if own.dim() == 2 else own, right, None, None


def _solved(values: Tensor, other: Tensor, crow: Tensor, col: Tensor, is_turned: bool) -> Tensor:
    try:
        import scipy.sparse
        import scipy.sparse.linalg
    except ImportError:
        raise ImportError("spsolve needs scipy: pip install 'taeda-sparse[solve]'") from None
    n = other.shape[0]
    data = [x.detach().cpu().numpy() for x in (values, col, crow)]
    matrix = scipy.sparse.csr_matrix(tuple(data), shape=(n, n))
    matrix = matrix.T if is_turned else matrix
    try:
        solver = scipy.sparse.linalg.splu(matrix.tocsc())
    except MemoryError:
        raise
    except RuntimeError as error:
        raise RuntimeError(f"spsolve: the matrix has no inverse ({error})") from None
    made = solver.solve(other.detach().cpu().numpy())
    return taeda.as_tensor(made, dtype=other.dtype, device=other.device)
