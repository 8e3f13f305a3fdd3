"""Factorizations of matrices. Batched over the dimensions before the last two."""

from __future__ import annotations

from ._row import op

HERE = {"composite": True, "variants": "function out", "namespace": "linalg"}

op("cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor "
   "info)", **HERE,
   autocast="float32", doc="cholesky that tells of failure by a number.")
op("cholesky(Tensor self, *, bool upper=False) -> Tensor", **HERE, autocast="float32",
   doc="L with A = L L^H; U with A = U^H U if upper.")
op("qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", **HERE, autocast="float32",
   doc="Orthonormal columns times an upper triangle.")
op("lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor "
   "pivots, Tensor info)", **HERE,
   doc="lu_factor that tells of failure by a number.")
op("lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", **HERE,
   doc="L and U in one matrix, and exchanges of rows.")
op("lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", **HERE, doc="A = P L U.")
op("ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, "
   "Tensor pivots, Tensor info)", **HERE,
   doc="ldl_factor that tells of failure by a number.")
op("ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", **HERE,
   doc="L and D of A = L D L^T (L D L^H if hermitian) in one matrix, and exchanges of rows; the "
       "lower triangle of A is read.")
op("eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", **HERE,
   autocast="float32", doc="Eigenvalues (ascending) and eigenvectors of Hermitian matrices, of "
                           "which one triangle is read.")
op("eigvalsh(Tensor self, str UPLO='L') -> Tensor", **HERE, autocast="float32",
   doc="Eigenvalues of Hermitian matrices.")
op("eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", **HERE, autocast="float32",
   doc="Complex eigenvalues and eigenvectors.")
op("eigvals(Tensor self) -> Tensor", **HERE, autocast="float32", doc="Complex eigenvalues.")
op("svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
   **HERE, autocast="float32", doc="A = U diag(S) Vh.")
op("svdvals(Tensor A, *, str? driver=None) -> Tensor", **HERE, autocast="float32",
   doc="Singular values, in descending order.")
op("householder_product(Tensor input, Tensor tau) -> Tensor", **HERE, autocast="float32",
   doc="The first columns of a product of reflections.")
