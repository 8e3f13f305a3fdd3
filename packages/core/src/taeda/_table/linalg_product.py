"""Products and powers of matrices and vectors."""

from __future__ import annotations

from ._row import op

HERE = {"composite": True, "variants": "function out", "namespace": "linalg"}
LIST = {"composite": True, "variants": "function", "namespace": "linalg"}

op("matmul.linalg(Tensor self, Tensor other) -> Tensor", **HERE, autocast="lower",
   doc="The same as taeda.matmul.")
op("matrix_power.linalg(Tensor self, int n) -> Tensor", **HERE,
   doc="A to the power of n; of its inverse, if n is negative.")
op("matrix_exp.linalg(Tensor self) -> Tensor", **LIST, doc="The sum of A^k / k!.")
op("vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", **HERE, autocast="lower",
   doc="Sum of conj(x) y along a dimension.")
op("cross.linalg(Tensor self, Tensor other, *, int dim=-1) -> Tensor", c="cross", device="any",
   variants="function out", namespace="linalg",
   doc="Cross product of vectors of 3 numbers.")
op("vander.linalg(Tensor x, *, int? N=None) -> Tensor", **LIST,
   doc="Powers 0 ... N - 1 of every element, as rows.")
op("diagonal.linalg(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", **LIST,
   doc="The diagonal, a view.")
