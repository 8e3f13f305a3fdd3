"""Linear algebra: factorizations, solutions, norms of matrices. All are batched over the dimensions before the last two."""

from __future__ import annotations

from ._table import op

HERE = {"composite": True, "variants": "function out", "namespace": "linalg"}
LIST = {"composite": True, "variants": "function", "namespace": "linalg"}
KERNEL = {"variants": "function"}

# ---- kernels ----
op("_linalg_cholesky(Tensor A) -> (Tensor, Tensor)", c="linalg_cholesky", **KERNEL, doc="Lower factor, and the order of the minor that is not positive.")
op("_linalg_inv(Tensor A) -> (Tensor, Tensor)", c="linalg_inv", **KERNEL, doc="Inverse, and 1 + the place of a zero pivot, or 0.")
op("_linalg_solve(Tensor A, Tensor B) -> (Tensor, Tensor)", c="linalg_solve", **KERNEL, doc="A^-1 B, and 1 + the place of a zero pivot, or 0.")
op("_linalg_lu(Tensor A, bool pivot) -> (Tensor, Tensor, Tensor)", c="linalg_lu", **KERNEL,
   doc="L and U in one matrix, the rows exchanged, and 1 + the place of a zero pivot, or 0.")
op("_linalg_permutation(Tensor pivots, int rows) -> Tensor", c="linalg_permutation", **KERNEL, doc="Where exchanges of rows bring every row.")
op("_linalg_qr(Tensor A, str mode) -> (Tensor, Tensor)", c="linalg_qr", **KERNEL, doc="Orthonormal columns and an upper triangle.")
op("_linalg_eigh(Tensor A, str UPLO, bool vectors) -> (Tensor, Tensor)", c="linalg_eigh", **KERNEL, doc="Eigenvalues in ascending order, eigenvectors.")
op("_linalg_eig(Tensor A, bool vectors) -> (Tensor, Tensor)", c="linalg_eig", **KERNEL, doc="Complex eigenvalues and eigenvectors of length 1.")
op("_linalg_svd(Tensor A, bool full_matrices, bool vectors) -> (Tensor, Tensor, Tensor)", c="linalg_svd", **KERNEL,
   doc="Left vectors, singular values in descending order, conjugated right vectors.")
op("_linalg_slogdet(Tensor A) -> (Tensor, Tensor)", c="linalg_slogdet", **KERNEL, doc="Direction of the determinant, logarithm of its magnitude.")
op("_linalg_det(Tensor A) -> Tensor", c="linalg_det", **KERNEL, doc="Determinant.")
op("_linalg_pinv(Tensor A, Tensor u, Tensor inverse, Tensor vh) -> Tensor", python=True, **KERNEL, doc="Pseudoinverse of A = u diag(s) vh by the inverses of s.")
op("_linalg_triangular(Tensor A, Tensor B, bool upper, bool unitriangular) -> Tensor", c="linalg_triangular", **KERNEL, doc="A^-1 B for a triangle A.")
op("geqrf(Tensor self) -> (Tensor a, Tensor tau)", c="geqrf", variants="function method out", doc="The reflections of a QR factorization.")

# ---- factorizations ----
op("cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", **HERE,
   doc="cholesky that tells of failure by a number.")
op("cholesky(Tensor self, *, bool upper=False) -> Tensor", **HERE, doc="L with A = L L^H; U with A = U^H U if upper.")
op("qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", **HERE, doc="Orthonormal columns times an upper triangle.")
op("lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)", **HERE,
   doc="lu_factor that tells of failure by a number.")
op("lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", **HERE, doc="L and U in one matrix, and exchanges of rows.")
op("lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", **HERE, doc="A = P L U.")
op("lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", **HERE, doc="solve by lu_factor's result.")
op("eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", **HERE,
   doc="Eigenvalues (ascending) and eigenvectors of Hermitian matrices, of which one triangle is read.")
op("eigvalsh(Tensor self, str UPLO='L') -> Tensor", **HERE, doc="Eigenvalues of Hermitian matrices.")
op("eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", **HERE, doc="Complex eigenvalues and eigenvectors.")
op("eigvals(Tensor self) -> Tensor", **HERE, doc="Complex eigenvalues.")
op("svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", **HERE, doc="A = U diag(S) Vh.")
op("svdvals(Tensor A, *, str? driver=None) -> Tensor", **HERE, doc="Singular values, in descending order.")
op("householder_product(Tensor input, Tensor tau) -> Tensor", **HERE, doc="The first columns of a product of reflections.")

# ---- solutions ----
op("inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", **HERE, doc="inv that tells of failure by a number.")
op("inv(Tensor A) -> Tensor", **HERE, doc="Inverse.")
op("solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)", **HERE,
   doc="solve that tells of failure by a number.")
op("solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", **HERE, doc="X with A X = B, or X A = B if not left.")
op("solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor", **HERE,
   doc="solve where one triangle of A is read.")
TOLERANCES = "Tensor? atol=None, Tensor? rtol=None, bool hermitian=False"
op(f"pinv.atol_rtol_tensor(Tensor self, *, {TOLERANCES}) -> Tensor", **HERE, numbers="atol rtol", doc="Pseudoinverse (Moore, Penrose).")
op("pinv(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor", **HERE, numbers="rcond", doc="Pseudoinverse, rcond is rtol.")
op("lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, "
   "Tensor singular_values)", **HERE, doc="X of least |A X - B|.")
op("tensorinv(Tensor self, int ind=2) -> Tensor", **HERE, doc="Inverse of what tensordot does over the first ind dimensions.")
op("tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", **HERE, doc="X with tensordot(A, X) = B.")

# ---- numbers of a matrix ----
op("det(Tensor A) -> Tensor", **HERE, doc="Determinant.")
op("slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", **HERE, doc="Direction of the determinant, logarithm of its magnitude.")
op(f"matrix_rank.atol_rtol_tensor(Tensor input, *, {TOLERANCES}) -> Tensor", **HERE, numbers="atol rtol",
   doc="How many singular values are above max(atol, rtol * the largest).")
op("matrix_rank(Tensor input, Tensor tol, bool hermitian=False) -> Tensor", **HERE, numbers="tol",
   doc="How many singular values are above tol.")
op("cond(Tensor self, Scalar? p=None) -> Tensor", **HERE, doc="Condition: norm of the matrix times norm of its inverse.")
op("cond.p_str(Tensor self, str p) -> Tensor", **HERE, doc="Condition in the norm 'fro' or 'nuc'.")
NORM = "bool keepdim=False, *, ScalarType? dtype=None"
op(f"matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], {NORM}) -> Tensor", **HERE, doc="Norm of order 1, 2, inf or their negatives.")
op(f"matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], {NORM}) -> Tensor", **HERE, doc="Norm 'fro' or 'nuc'.")
op(f"norm.linalg(Tensor self, Scalar? ord=None, int[1]? dim=None, {NORM}) -> Tensor", **HERE,
   doc="matrix_norm over two dimensions, vector_norm over others.")
op(f"norm.ord_str(Tensor self, str ord, int[1]? dim=None, {NORM}) -> Tensor", **HERE, doc="matrix_norm 'fro' or 'nuc'.")

# ---- products ----
op("matmul.linalg(Tensor self, Tensor other) -> Tensor", **HERE, doc="The same as taeda.matmul.")
op("matrix_power.linalg(Tensor self, int n) -> Tensor", **HERE, doc="A to the power of n; of its inverse, if n is negative.")
op("matrix_exp.linalg(Tensor self) -> Tensor", **LIST, doc="The sum of A^k / k!.")
op("vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", **HERE, doc="Sum of conj(x) y along a dimension.")
op("cross.linalg(Tensor self, Tensor other, *, int dim=-1) -> Tensor", **HERE, doc="Cross product of vectors of 3 numbers.")
op("vander.linalg(Tensor x, *, int? N=None) -> Tensor", **LIST, doc="Powers 0 ... N - 1 of every element, as rows.")
op("diagonal.linalg(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", **LIST, doc="The diagonal, a view.")
