"""Pooling, padding, resampling, and the rearrangements of image layers."""

from __future__ import annotations

from ._table import op

for _n in (1, 2, 3):
    # the one-dimensional forms are public functions, the others are reached through nn.functional
    _top, _max = ("" if _n == 1 else "nn"), f"int[{_n}] stride=[], int[{_n}] padding=0, int[{_n}] dilation=1, bool ceil_mode=False"
    _avg = f"int[{_n}] stride=[], int[{_n}] padding=0, bool ceil_mode=False, bool count_include_pad=True"
    _divisor = "" if _n == 1 else ", int? divisor_override=None"
    op(f"max_pool{_n}d(Tensor self, int[{_n}] kernel_size, {_max}) -> Tensor", c=f"max_pool{_n}d", variants="function",
       doc="The largest number of each window.")
    op(f"max_pool{_n}d_with_indices(Tensor self, int[{_n}] kernel_size, {_max}) -> (Tensor, Tensor)",
       c=f"max_pool{_n}d_with_indices", variants="function", namespace=_top,
       doc="The largest number of each window and its place in the plane.")
    op(f"max_pool{_n}d_backward(Tensor grad_output, Tensor self, int[{_n}] kernel_size, {_max}) -> Tensor",
       c=f"max_pool{_n}d_backward", variants="function", namespace="nn", doc="Gradient of max pooling.")
    op(f"avg_pool{_n}d(Tensor self, int[{_n}] kernel_size, {_avg}{_divisor}) -> Tensor", c=f"avg_pool{_n}d",
       variants="function", namespace=_top, doc="The average of each window.")
    op(f"avg_pool{_n}d_backward(Tensor grad_output, Tensor self, int[{_n}] kernel_size, {_avg}{_divisor}) -> Tensor",
       c=f"avg_pool{_n}d_backward", variants="function", namespace="nn", doc="Gradient of average pooling.")
    op(f"adaptive_avg_pool{_n}d(Tensor self, int[{_n}] output_size) -> Tensor", c=f"adaptive_avg_pool{_n}d",
       variants="function", namespace=_top, doc="Averages of as many parts as asked for.")
    op(f"adaptive_avg_pool{_n}d_backward(Tensor grad_output, Tensor self) -> Tensor", c=f"adaptive_avg_pool{_n}d_backward",
       variants="function", namespace="nn", doc="Gradient of adaptive average pooling.")
    op(f"adaptive_max_pool{_n}d(Tensor self, int[{_n}] output_size) -> (Tensor, Tensor)", c=f"adaptive_max_pool{_n}d",
       variants="function", namespace=_top, doc="The largest numbers of as many parts as asked for, and their places.")
