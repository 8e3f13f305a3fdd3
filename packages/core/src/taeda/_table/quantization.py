"""Products with weights of 8 and 4 bits."""

from __future__ import annotations

from ._row import op

op("_weight_int8_mm(Tensor self, Tensor weight, Tensor scales, Tensor? bias=None) -> Tensor",
   c="_weight_int8_mm", variants="function",
   doc="self @ W.T + bias, where W is int8 (n, k) times scales (n, groups), float16 or float32; k is a "
       "multiple of 32, and its groups are 16 or multiples of 32. For up to 16 rows of self the numbers "
       "of a group of 32 are rounded to 16 bits, and the bits of the result are the same on every "
       "processor.")
op("_weight_int4_mm(Tensor self, Tensor weight, Tensor scales, Tensor? offsets=None, Tensor? bias=None) "
   "-> Tensor", c="_weight_int4_mm", variants="function",
   doc="The same for numbers q from 0 to 15 in uint8 (n, ceil(k / 128) * 64), of 128 numbers the first 64 "
       "in the lower halves: W is scales * (q - 8), or scales * q + offsets.")
op("_weight_int8_expand(Tensor weight, Tensor scales) -> Tensor", c="_weight_int8_expand",
   variants="function", doc="The matrix of _weight_int8_mm in float32.")
op("_weight_int4_expand(Tensor weight, Tensor scales, Tensor? offsets, int k) -> Tensor",
   c="_weight_int4_expand", variants="function", doc="The matrix of _weight_int4_mm in float32, (n, k).")
op("_quantize_int8(Tensor self, float scale, int zero_point, ScalarType dtype) -> Tensor",
   c="_quantize_int8", variants="function",
   doc="rint(fma(self, 1 / scale, zero_point)), clamped, in uint8 or int8; NaN becomes the greatest.")
op("_dequantize_int8(Tensor self, float scale, int zero_point) -> Tensor", c="_dequantize_int8",
   variants="function", doc="(self - zero_point) * scale of integers in uint8 or int8, in float32.")
op("_int8_pack(Tensor self, int groups=1) -> (Tensor panels, Tensor sums)", c="_int8_pack",
   variants="function",
   doc="An int8 matrix (n, k) as layers on integers read it: 16 rows of a group side by side in "
       "(groups, panels, ceil(k / 4), 64), and the sums of all rows in int32.")
op("_int8_linear(Tensor self, float self_scale, int self_zero_point, Tensor panels, Tensor sums, "
   "Tensor scales, Tensor? zero_points, Tensor? bias, int features, float scale, int zero_point, "
   "bool relu=False) -> Tensor", c="_int8_linear", variants="function",
   doc="A linear layer on integers (..., features) of uint8 or int8, with what _int8_pack gave of its "
       "weight: rint((sum + bias / (self_scale * scales)) * (self_scale * scales / scale)) + zero_point, "
       "clamped. The bits are the same on every processor.")
op("_int8_linear_dynamic(Tensor self, Tensor panels, Tensor sums, Tensor scales, Tensor? zero_points, "
   "Tensor? bias, int features, bool reduce_range=True, bool relu=False) -> Tensor",
   c="_int8_linear_dynamic", variants="function",
   doc="A linear layer on float32 (..., features), which becomes integers with the scale of its own "
       "range, of 7 bits with reduce_range: fma(sum, self_scale * scales, bias).")
op("_int8_conv(Tensor self, float self_scale, int self_zero_point, Tensor panels, Tensor sums, "
   "Tensor scales, Tensor? zero_points, Tensor? bias, int[] kernel, int[] stride, int[] padding, "
   "int[] dilation, float scale, int zero_point, bool relu=False, ScalarType? dtype=None) -> Tensor",
   c="_int8_conv", variants="function",
   doc="A convolution of integers (samples, three places, channels), with a weight (out channels, "
       "places and channels of a group) that _int8_pack packed by groups; rounded as _int8_linear does. "
       "Panels of one group as (panels, words, 16, 4) are depthwise: each row is that of a channel.")
op("_int8_pool(Tensor self, int zero_point, int[] planes, int[] lines, int[] columns, bool largest=False, "
   "int divisor=0) -> Tensor", c="_int8_pool", variants="function",
   doc="The largest integers, or averages rint(sum / count) about the zero point, of windows of uint8 or "
       "int8 (samples, three places, channels). Axes list for each output where its window begins and ends, "
       "and what it counts as.")
op("_int8_bags(Tensor table, Tensor scales, Tensor shifts, Tensor indices, Tensor? offsets=None, "
   "Tensor? per_sample_weights=None) -> Tensor", c="_int8_bags", variants="function",
   doc="Sums of rows of a table of uint8, whose numbers are q * scale + shift, in float32: of the "
       "indices from each offset to the next, or each index alone. A row is added by one fused step.")
