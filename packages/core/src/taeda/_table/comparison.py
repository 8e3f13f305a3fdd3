"""Questions about whole tensors: are they close, are they equal?"""

from ._row import op

TOLERANCES = "float rtol=1e-05, float atol=1e-08, bool equal_nan=False"
op(f"isclose(Tensor self, Tensor other, {TOLERANCES}) -> Tensor", composite=True,
   names="unify",
   doc="Where |self - other| <= atol + rtol * |other|; infinities are close to themselves only.")
op(f"allclose(Tensor self, Tensor other, {TOLERANCES}) -> bool", composite=True, reads_value="always",
   doc="Is every element close? See isclose.")
op("equal(Tensor self, Tensor other) -> bool", composite=True, reads_value="always",
   doc="Have both the same shape and the same elements?")
op("_local_scalar_dense(Tensor self) -> Scalar", python=True, device="any", variants="function",
   reads_value="always",
   doc="The one element as a Python number: item() of a tensor whose type has a "
       "`__torch_dispatch__`.")
