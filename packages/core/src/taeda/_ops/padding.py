"""Borders around tensors."""

from ._table import op

op("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor", composite=True,
   variants="function", doc="Add (or cut, where negative) a border; `pad` lists before and after from the last dimension on.")  # fmt: skip
