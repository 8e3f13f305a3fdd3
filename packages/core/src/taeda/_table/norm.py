"""Normalisation: over the last dimensions, over the batch, over groups of channels."""

from __future__ import annotations

from ._row import op

KERNEL = {"variants": "function"}

# ---- the last dimensions ----
op("native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float "
   "eps) -> (Tensor, Tensor, Tensor)",
   c="native_layer_norm", device="any", **KERNEL,
   doc="(x - mean) / deviation * weight + bias, the means, and 1 / the deviations.")
op("native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, "
   "Tensor rstd, "
   "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
   c="native_layer_norm_backward", device="any", **KERNEL,
   doc="Gradients of input, weight and bias; None where the mask is False.")
op("_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float eps) -> (Tensor, Tensor)",
   c="_fused_rms_norm", device="any", **KERNEL,
   doc="x / root of the mean square * weight, and 1 / the roots.")
op("_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
   "Tensor? weight, "
   "bool[2] output_mask) -> (Tensor, Tensor)",
   c="_fused_rms_norm_backward", device="any", **KERNEL,
   doc="Gradients of input and weight; None where the mask is False.")
op("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float "
   "eps=1e-05, "
   "bool cudnn_enable=True) -> Tensor", composite=True, **KERNEL,
   doc="Shift and scale the last dimensions to mean 0 and variance 1, then by weight and bias.")
op("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
   composite=True,
   **KERNEL, doc="Divide the last dimensions by the root of their mean square, then scale by weight.")

# ---- channels over the batch ----
op("_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, Tensor(b!)? "
   "running_var, bool training, "
   "float momentum, float eps) -> (Tensor, Tensor, Tensor)", c="_batch_norm", device="any", **KERNEL,
   doc="batch_norm, and the mean and 1 / deviation of every channel that it used.")
op("native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, "
   "Tensor(b!)? running_var, bool training, "
   "float momentum, float eps) -> (Tensor, Tensor, Tensor)", composite=True, variants="function out",
   doc="batch_norm, and the batch's statistics: empty in evaluation mode.")
op("native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
   "running_mean, Tensor? running_var, "
   "Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> "
   "(Tensor, Tensor, Tensor)",
   c="native_batch_norm_backward", device="any", **KERNEL,
   doc="Gradients of input, weight and bias; None where the mask is False.")
op("batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!)? running_mean, Tensor(b!)? "
   "running_var, bool training, "
   "float momentum, float eps, bool cudnn_enabled) -> Tensor", composite=True, **KERNEL,
   doc="Normalise every channel over the batch, or by running statistics; training updates those.")
op("instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
   "running_var, bool use_input_stats, "
   "float momentum, float eps, bool cudnn_enabled) -> Tensor", composite=True, **KERNEL,
   doc="Normalise every channel of every sample by itself, or by running statistics.")

# ---- groups of channels ----
op("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int "
   "group, float eps) -> "
   "(Tensor, Tensor, Tensor)", c="native_group_norm", device="any", **KERNEL,
   doc="group_norm, and the mean and 1 / deviation of every group of every sample.")
op("native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? "
   "weight, int N, int C, int HxW, "
   "int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)", c="native_group_norm_backward",
   device="any", **KERNEL,
   doc="Gradients of input, weight and bias; None where the mask is False.")
op("group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, "
   "bool cudnn_enabled=True) -> Tensor", composite=True, **KERNEL,
   doc="Normalise groups of channels of every sample together.")
