"""Products with weights of 8 and 4 bits."""

from __future__ import annotations

from ._row import op

op("_weight_int8_mm(Tensor self, Tensor weight, Tensor scales, Tensor? bias=None) -> Tensor",
   c="_weight_int8_mm", variants="function",
   doc="self @ W.T + bias, where W is int8 (n, k) times scales (n, groups), float16 or float32; k is a "
       "multiple of 32, and so are its groups. For up to 16 rows of self the numbers of a group of 32 "
       "are rounded to 16 bits, and the bits of the result are the same on every processor.")
op("_weight_int4_mm(Tensor self, Tensor weight, Tensor scales, Tensor? offsets=None, Tensor? bias=None) "
   "-> Tensor", c="_weight_int4_mm", variants="function",
   doc="The same for numbers q from 0 to 15 in uint8 (n, ceil(k / 128) * 64), of 128 numbers the first 64 "
       "in the lower halves: W is scales * (q - 8), or scales * q + offsets.")
op("_weight_int8_expand(Tensor weight, Tensor scales) -> Tensor", c="_weight_int8_expand",
   variants="function", doc="The matrix of _weight_int8_mm in float32.")
op("_weight_int4_expand(Tensor weight, Tensor scales, Tensor? offsets, int k) -> Tensor",
   c="_weight_int4_expand", variants="function", doc="The matrix of _weight_int4_mm in float32, (n, k).")
