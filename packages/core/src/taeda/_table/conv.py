"""Convolutions and transposed convolutions in one, two and three dimensions."""

from __future__ import annotations

from ._row import op

GEOMETRY = "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups"

op(f"convolution(Tensor input, Tensor weight, Tensor? bias, {GEOMETRY}) -> Tensor", c="convolution",
   device="any", variants="function",
   autocast="lower", doc="A convolution of a batch, or a transposed one, in one to three dimensions.")
op(f"convolution_backward(Tensor grad_output, Tensor input, Tensor weight, {GEOMETRY}, bool[3] output_mask) "
   "-> (Tensor, Tensor, Tensor)", c="convolution_backward", device="any", variants="function", namespace="nn",
   doc="Gradients of a convolution: of input, weight and bias, None where output_mask is False.")

for _n in (1, 2, 3):
    _inputs = "Tensor input, Tensor weight, Tensor? bias=None"
    op(f"conv{_n}d({_inputs}, int[{_n}] stride=1, int[{_n}] padding=0, int[{_n}] dilation=1, int "
       "groups=1) -> Tensor",
       composite=True, variants="function", autocast="lower",
       doc="Sums of products of a sliding kernel and the input under it.")
    op(f"conv{_n}d.padding({_inputs}, int[{_n}] stride=1, str padding='valid', int[{_n}] "
       "dilation=1, int groups=1) "
       "-> Tensor", composite=True, variants="function", autocast="lower",
       doc="The same with padding 'valid' (none) or 'same'.")
    op(f"conv_transpose{_n}d({_inputs}, int[{_n}] stride=1, int[{_n}] padding=0, int[{_n}] output_padding=0, "
       f"int groups=1, int[{_n}] dilation=1) -> Tensor", composite=True, variants="function",
       autocast="lower", doc="The convolution's transpose: each input spreads a scaled kernel over "
                             "the output.")
