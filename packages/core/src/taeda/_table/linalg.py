"""Linear algebra: the kernels that the operations of linalg_*.py are written in.
All are batched over the dimensions before the last two.
"""

from __future__ import annotations

from ._row import op

KERNEL = {"variants": "function"}

op("_linalg_cholesky(Tensor A, bool upper) -> (Tensor, Tensor)", c="linalg_cholesky", **KERNEL,
   doc="Lower or upper factor, and the order of the minor that is not positive.")
op("_linalg_inv(Tensor A) -> (Tensor, Tensor)", c="linalg_inv", **KERNEL,
   doc="Inverse, and 1 + the place of a zero pivot, or 0.")
op("_linalg_solve(Tensor A, Tensor B) -> (Tensor, Tensor)", c="linalg_solve", **KERNEL,
   doc="A^-1 B, and 1 + the place of a zero pivot, or 0.")
op("_linalg_lu(Tensor A, bool pivot) -> (Tensor, Tensor, Tensor)", c="linalg_lu", **KERNEL,
   doc="L and U in one matrix, the rows exchanged, and 1 + the place of a zero pivot, or 0.")
op("_linalg_permutation(Tensor pivots, int rows) -> Tensor", c="linalg_permutation", **KERNEL,
   doc="Where exchanges of rows bring every row.")
op("_linalg_qr(Tensor A, str mode) -> (Tensor, Tensor)", c="linalg_qr", **KERNEL,
   doc="Orthonormal columns and an upper triangle.")
op("_linalg_eigh(Tensor A, str UPLO, bool vectors) -> (Tensor, Tensor)", c="linalg_eigh", **KERNEL,
   doc="Eigenvalues in ascending order, eigenvectors.")
op("_linalg_eig(Tensor A, bool vectors) -> (Tensor, Tensor)", c="linalg_eig", **KERNEL,
   doc="Complex eigenvalues and eigenvectors of length 1.")
op("_linalg_svd(Tensor A, bool full_matrices, bool vectors) -> (Tensor, Tensor, Tensor)",
   c="linalg_svd", **KERNEL,
   doc="Left vectors, singular values in descending order, conjugated right vectors.")
op("_linalg_slogdet(Tensor A) -> (Tensor, Tensor)", c="linalg_slogdet", **KERNEL,
   doc="Direction of the determinant, logarithm of its magnitude.")
op("_linalg_det(Tensor A) -> Tensor", c="linalg_det", **KERNEL, doc="Determinant.")
op("_linalg_pinv(Tensor A, Tensor u, Tensor inverse, Tensor vh) -> Tensor", python=True, **KERNEL,
   doc="Pseudoinverse of A = u diag(s) vh by the inverses of s.")
op("_linalg_triangular(Tensor A, Tensor B, bool upper, bool unitriangular) -> Tensor",
   c="linalg_triangular", **KERNEL, doc="A^-1 B for a triangle A.")
op("_linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, bool adjoint) -> Tensor",
   c="linalg_lu_solve", **KERNEL,
   doc="A^-1 B or A^-H B by the factors of A.")
op("_linalg_ldl(Tensor A, bool hermitian) -> (Tensor, Tensor, Tensor)", c="linalg_ldl", **KERNEL,
   doc="L and D in one matrix, exchanges of rows, and 1 + the place of a zero in D, or 0.")
op("_linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, bool hermitian) -> Tensor",
   c="linalg_ldl_solve", **KERNEL,
   doc="A^-1 B by the factors of A.")
op("_linalg_lstsq(Tensor A, Tensor B, float rcond, str driver) -> (Tensor, Tensor, Tensor)",
   c="linalg_lstsq", **KERNEL,
   doc="X of least |A X - B|, ranks, singular values.")
op("geqrf(Tensor self) -> (Tensor a, Tensor tau)", c="geqrf", variants="function method out",
   autocast="float32", doc="The reflections of a QR factorization.")
