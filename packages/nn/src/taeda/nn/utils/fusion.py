"""A batch normalisation in evaluation mode, worked into the layer before it."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import taeda
from taeda import Tensor

from ..parameter import Parameter

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

L = TypeVar("L", bound=Any)


def fuse_conv_bn_eval(conv: L, bn: Any, transpose: bool = False) -> L:
    """A convolution that computes bn(conv(x)). Both must be in evaluation mode, else AssertionError."""
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight,
        fused.bias,
        bn.running_mean,
        bn.running_var,
        bn.eps,
        bn.weight,
        bn.bias,
        transpose,
    )
    return fused


def _check_eval(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Fusion needs running statistics: track_running_stats is off")


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused convolution; `transpose` for a transposed one."""
    with taeda.no_grad():
        scale, shift = _affine(conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
        shape = [1] * conv_w.dim()
        shape[1 if transpose else 0] = -1
        weight = (conv_w * scale.reshape(shape)).to(conv_w.dtype)
        bias = shift.to(conv_w.dtype if conv_b is None else conv_b.dtype)
    return (
        Parameter(weight, conv_w.requires_grad),
        Parameter(bias, conv_w.requires_grad if conv_b is None else conv_b.requires_grad),
    )


def _affine(
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    weight: Tensor | None,
    shift: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Scale and bias of normalisation after a bias, for each channel."""
    scale = (var + eps).rsqrt()
    scale = scale if weight is None else scale * weight
    start = -mean if bias is None else bias - mean
    total = start * scale
    return scale, total if shift is None else total + shift


def fuse_linear_bn_eval(linear: L, bn: Any) -> L:
    """A Linear that computes bn(linear(x)). Both must be in evaluation mode, else AssertionError.

    The numbers of features must be equal, or that of the normalisation 1.
    """
    _check_eval(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"{linear.out_features} and {bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused Linear."""
    with taeda.no_grad():
        scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
        weight = (linear_w * scale.unsqueeze(-1)).to(linear_w.dtype)
        bias = shift.expand(linear_w.size(0)).clone().to(linear_w.dtype)
    wanted = linear_w.requires_grad if linear_b is None else linear_b.requires_grad
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, wanted)
