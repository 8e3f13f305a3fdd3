"""Numbers that say something of a matrix: determinant, rank, condition, norms.
Batched over the dimensions before the last two.
"""

from __future__ import annotations

from ._row import op

HERE = {"composite": True, "variants": "function out", "namespace": "linalg"}
TOLERANCES = "Tensor? atol=None, Tensor? rtol=None, bool hermitian=False"

op("det(Tensor A) -> Tensor", **HERE, doc="Determinant.")
op("slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", **HERE,
   doc="Direction of the determinant, logarithm of its magnitude.")
op(f"matrix_rank.atol_rtol_tensor(Tensor input, *, {TOLERANCES}) -> Tensor", **HERE, numbers="atol rtol",
   autocast="float32", doc="How many singular values are above max(atol, rtol * the largest).")
op("matrix_rank(Tensor input, Tensor tol, bool hermitian=False) -> Tensor", **HERE, numbers="tol",
   autocast="float32", doc="How many singular values are above tol.")
op("cond(Tensor self, Scalar? p=None) -> Tensor", **HERE, autocast="float32",
   doc="Condition: norm of the matrix times norm of its inverse.")
op("cond.p_str(Tensor self, str p) -> Tensor", **HERE, autocast="float32",
   doc="Condition in the norm 'fro' or 'nuc'.")
NORM = "bool keepdim=False, *, ScalarType? dtype=None"
op(f"matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], {NORM}) -> Tensor", **HERE,
   doc="Norm of order 1, 2, inf or their negatives.")
op(f"matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], {NORM}) -> Tensor", **HERE,
   doc="Norm 'fro' or 'nuc'.")
op(f"norm.linalg(Tensor self, Scalar? ord=None, int[1]? dim=None, {NORM}) -> Tensor", **HERE,
   doc="matrix_norm over two dimensions, vector_norm over others.")
op(f"norm.ord_str(Tensor self, str ord, int[1]? dim=None, {NORM}) -> Tensor", **HERE,
   doc="matrix_norm 'fro' or 'nuc'.")
