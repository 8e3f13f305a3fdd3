"""Solutions of systems of equations, inverses. Batched over the dimensions before the last two."""

from __future__ import annotations

from ._row import op

HERE = {"composite": True, "variants": "function out", "namespace": "linalg"}
TOLERANCES = "Tensor? atol=None, Tensor? rtol=None, bool hermitian=False"

op("inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", **HERE,
   autocast="float32", doc="inv that tells of failure by a number.")
op("inv(Tensor A) -> Tensor", **HERE, autocast="float32", doc="Inverse.")
op("solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, "
   "Tensor info)", **HERE,
   doc="solve that tells of failure by a number.")
op("solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", **HERE, autocast="float32",
   doc="X with A X = B, or X A = B if not left.")
op("lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
   **HERE, doc="solve by lu_factor's result.")
op("ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", **HERE,
   doc="solve by ldl_factor's result.")
op("solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool "
   "unitriangular=False) -> Tensor", **HERE,
   doc="solve where one triangle of A is read.")
op(f"pinv.atol_rtol_tensor(Tensor self, *, {TOLERANCES}) -> Tensor", **HERE, numbers="atol rtol",
   doc="Pseudoinverse (Moore, Penrose).")
op("pinv(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor", **HERE, numbers="rcond",
   doc="Pseudoinverse, rcond is rtol.")
op("lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
   "Tensor residuals, Tensor rank, "
   "Tensor singular_values)", **HERE, reads_value="sometimes", autocast="float32",
   doc="X of least |A X - B|.")
op("tensorinv(Tensor self, int ind=2) -> Tensor", **HERE, autocast="float32",
   doc="Inverse of what tensordot does over the first ind dimensions.")
op("tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", **HERE, autocast="float32",
   doc="X with tensordot(A, X) = B.")
