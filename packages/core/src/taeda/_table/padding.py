"""Borders around tensors; those that repeat what is inside stand in pooling.py."""

from __future__ import annotations

from ._row import op

op(
    "constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
    c="constant_pad_nd",
    device="any",
    variants="function",
    doc="Add (or cut, where negative) a border; `pad` lists before and after from the last dimension on.",
)
