"""Softmax, its logarithm, and their gradients."""

from __future__ import annotations

from ._row import op

for _name, _doc in (("softmax", "Scale a dimension to positive numbers that sum to 1: exp(x) / sum of exp(x)."),
                    ("log_softmax", "The logarithm of softmax, without overflow on the way.")):  # fmt: skip
    op(f"{_name}.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", c=_name, variants="function method out",
       doc=_doc)
    op(f"_{_name}(Tensor self, int dim, bool half_to_float) -> Tensor", c=f"_{_name}", variants="function out",
       doc=f"{_name} of a tensor in its own dtype; half_to_float is for other devices.")
    op(f"_{_name}_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
       c=f"_{_name}_backward_data", variants="function out", doc=f"The gradient of {_name}, from its result.")
