"""Numbers rounded to a few steps: as quantized tensors hold them, in float."""

from __future__ import annotations

from ._row import op

op("fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, "
   "int quant_max) -> Tensor", composite=True, variants="function",
   doc="The floats that come back from quantizing self with one scale and zero point; the gradient "
       "passes where nothing was clamped.")
op("fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, "
   "int quant_min, int quant_max) -> Tensor", composite=True, variants="function",
   doc="The same with scale and zero point in tensors of one element.")
op("fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, "
   "int quant_min, int quant_max) -> Tensor", composite=True, variants="function",
   doc="The floats that come back from quantizing self with a scale and a zero point for each place "
       "along axis.")
op("_fake_quantize(Tensor self, Tensor scale, Tensor zero_point, int? axis, int quant_min, "
   "int quant_max) -> (Tensor output, Tensor mask)", python=True, device="any", variants="function",
   doc="Quantized and back, and where nothing was clamped; scale and zero_point lie along axis, or "
       "are one number.")
op("fused_moving_avg_obs_fake_quant(Tensor self, Tensor observer_on, Tensor fake_quant_on, "
   "Tensor(a!) running_min, Tensor(b!) running_max, Tensor(c!) scale, Tensor(d!) zero_point, "
   "float averaging_const, int quant_min, int quant_max, int ch_axis, "
   "bool per_row_fake_quant=False, bool symmetric_quant=False) -> Tensor",
   composite=True, variants="function", reads_value="always",
   doc="Where observer_on is not 0, running extremes of self move on; where fake_quant_on is not 0, scale "
       "and zero_point are made of those, and self is quantized with them and back.")
