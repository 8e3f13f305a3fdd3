"""Products of matrices, vectors and batches of them."""

from __future__ import annotations

from ._row import op

# ---- kernels ----
op("mm(Tensor self, Tensor mat2) -> Tensor", c="mm", device="any", variants="function method out",
   autocast="lower", names="contract", doc="The product of two matrices.")
op("bmm(Tensor self, Tensor mat2) -> Tensor", c="bmm", device="any", variants="function method out",
   autocast="lower", names="contract", doc="The products of two batches of matrices, pair by pair.")
op("mv(Tensor self, Tensor vec) -> Tensor", c="mv", device="any", variants="function method out",
   names="contract", doc="The product of a matrix and a vector.")
op("dot(Tensor self, Tensor tensor) -> Tensor", c="dot", device="any", variants="function method out",
   names="none", doc="The sum of the products of two vectors' elements.")
op("matmul(Tensor self, Tensor other) -> Tensor", c="matmul", device="any", variants="function method out",
   autocast="lower", names="contract",
   doc="Product of matrices or vectors; dimensions before the last two broadcast.")
op("_int_mm(Tensor self, Tensor mat2) -> Tensor", c="int_mm", device="any", variants="function out",
   doc="The product of two int8 matrices, in int32.")
op("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", c="linear", device="any",
   variants="function out", namespace="nn",
   autocast="lower", doc="input @ weight.T + bias, for any number of leading dimensions.")
op("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
   c="addmm", device="any",
   variants="function method inplace out", autocast="lower",
   names="contract", doc="beta * self + alpha * (mat1 @ mat2); self is not read if beta is 0.")
op("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
   c="addmv", device="any",
   variants="function method inplace out",
   names="contract", doc="beta * self + alpha * (mat @ vec); self is not read if beta is 0.")
op("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
   c="baddbmm", device="any",
   variants="function method inplace out", autocast="lower", names="contract",
   doc="beta * self + alpha * bmm(batch1, batch2).")

# ---- written in other operations ----
op("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
   composite=True,
   variants="function method inplace out", autocast="lower",
   doc="beta * self + alpha * the sum of all products of a batch.")
op("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", composite=True,
   variants="function method inplace out", doc="beta * self + alpha * outer(vec1, vec2).")
op("outer(Tensor self, Tensor vec2) -> Tensor", composite=True, variants="function method out", aliases="ger",
   doc="All products of an element of one vector and one of another.")
op("vdot(Tensor self, Tensor other) -> Tensor", composite=True, variants="function method out",
   doc="dot of the conjugate of the first vector.")
op("inner(Tensor self, Tensor other) -> Tensor", composite=True, variants="function method out",
   doc="Sums of products over the last dimensions of both.")
op("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", composite=True,
   variants="function out", doc="Sums of products over pairs of dimensions.")
op("einsum(str equation, Tensor(a)[] tensors) -> Tensor(a)", composite=True, variants="function",
   doc="Sum of products over the subscripts that an equation names.")
op("kron(Tensor self, Tensor other) -> Tensor", composite=True, variants="function method out",
   doc="Kronecker product: a copy of `other` scaled by each element of `self`.")
op("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", composite=True,
   variants="function", doc="input1 weight[k] input2 for each output k, plus bias.")
op("chain_matmul(Tensor[] matrices) -> Tensor", composite=True, variants="function out",
   doc="Product of several matrices in the cheapest order.")
op("multi_dot(Tensor[] tensors) -> Tensor", composite=True, variants="function out", namespace="linalg",
   doc="Product of several matrices in the cheapest order; the first and last may be vectors.")
