"""Softmax, its logarithm, and their gradients."""

from __future__ import annotations

from ._row import op

# ---- as users call them ----
op("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", c="softmax", device="any",
   variants="function method out",
   names="keep", doc="Scale a dimension to positive numbers that sum to 1: exp(x) / sum of exp(x).")
op("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", c="log_softmax",
   device="any", variants="function method out",
   names="keep", doc="The logarithm of softmax, without overflow on the way.")

# ---- in their own dtype ----
op("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", c="_softmax", device="any",
   variants="function out",
   doc="softmax of a tensor in its own dtype; half_to_float is for other devices.")
op("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", c="_log_softmax",
   device="any", variants="function out",
   doc="log_softmax of a tensor in its own dtype; half_to_float is for other devices.")

# ---- gradients ----
op("_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
   c="_softmax_backward_data", device="any", variants="function out",
   doc="The gradient of softmax, from its result.")
op("_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor",
   c="_log_softmax_backward_data", device="any", variants="function out",
   doc="The gradient of log_softmax, from its result.")

# ---- segments of rows ----
op("_segment_softmax(Tensor self, Tensor edges, bool is_log) -> Tensor", c="segment_softmax",
   device="any", variants="function",
   doc="Softmax, or its logarithm, of each segment of the rows of a matrix: `edges` says where they begin.")
op("_segment_softmax_backward(Tensor grad_output, Tensor output, Tensor edges, bool is_log) -> Tensor",
   c="segment_softmax_backward", device="any", variants="function",
   doc="The gradient of _segment_softmax, from its result.")
