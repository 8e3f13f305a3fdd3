"""Linear algebra at the top level, where it stood before `taeda.linalg`."""

from __future__ import annotations

from ._row import op

FORMS = {"composite": True, "variants": "function method out"}
PLAIN = {"composite": True, "variants": "function method"}

op("cross(Tensor self, Tensor other, int? dim=None) -> Tensor", **FORMS,
   doc="linalg.cross; the first dimension of size 3 unless told.")
op("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", composite=True, variants="function",
   doc="Powers of every element, the highest first unless increasing.")
op("cholesky.legacy(Tensor self, bool upper=False) -> Tensor", **FORMS, autocast="float32",
   doc="linalg.cholesky.")
op("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", **FORMS, autocast="float32",
   doc="Inverse of L L^H.")
op("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", **FORMS,
   autocast="float32", doc="Solution of L L^H X = self.")
op("inverse(Tensor self) -> Tensor", **FORMS, autocast="float32", doc="linalg.inv.")
op("det.legacy(Tensor self) -> Tensor", **PLAIN, doc="linalg.det.")
op("logdet(Tensor self) -> Tensor", **PLAIN, doc="Logarithm of the determinant; NaN where that is negative.")
op("slogdet.legacy(Tensor self) -> (Tensor sign, Tensor logabsdet)", **FORMS, doc="linalg.slogdet.")
op("qr.legacy(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", **FORMS, autocast="float32",
   doc="linalg.qr, complete if not some.")
op("svd.legacy(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", **FORMS,
   autocast="float32", doc="linalg.svd with V in the place of Vh.")
op("lu_solve.legacy(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", **FORMS,
   autocast="float32", doc="linalg.lu_solve.")
op("lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> "
   "(Tensor P, Tensor L, Tensor U)",
   composite=True, variants="function out", doc="P, L and U of lu_factor's result.")
op("matrix_exp(Tensor self) -> Tensor", **PLAIN, doc="The sum of A^k / k!.")
op("matrix_power(Tensor self, int n) -> Tensor", **FORMS,
   doc="A to the power of n; of its inverse, if n is negative.")
op("pinverse(Tensor self, float rcond=1e-15) -> Tensor", **PLAIN, autocast="float32", doc="linalg.pinv.")
op("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool "
   "unitriangular=False) -> "
   "(Tensor solution, Tensor cloned_coefficient)", **FORMS, autocast="float32",
   doc="linalg.solve_triangular.")
op("orgqr(Tensor self, Tensor input2) -> Tensor", **FORMS, autocast="float32",
   doc="linalg.householder_product.")
op("ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> "
   "Tensor", **FORMS,
   autocast="float32", doc="A product of reflections times a matrix.")
