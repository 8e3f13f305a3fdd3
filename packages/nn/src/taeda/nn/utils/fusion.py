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
    """A convolution that computes bn(conv(x)). Both must be in evaluation mode, else AssertionError.

    Args:
        conv: a convolution in evaluation mode.
        bn: a batch norm in evaluation mode, with running statistics.
        transpose: whether the convolution is a transposed one (False).

    >>> conv, bn = taeda.nn.Conv2d(3, 4, 1).eval(), taeda.nn.BatchNorm2d(4).eval()
    >>> fuse_conv_bn_eval(conv, bn)(taeda.zeros(1, 3, 2, 2)).shape
    taeda.Size([1, 4, 2, 2])
    """
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
    """Weight and bias of the fused convolution; `transpose` for a transposed one.

    Args:
        conv_w: weight of the convolution.
        conv_b: its bias, (C) (None: none).
        bn_rm: running mean, (C).
        bn_rv: running variance, (C).
        bn_eps: `eps` of the normalisation.
        bn_w: its weight, (C) (None: all 1).
        bn_b: its bias, (C) (None: all 0).
        transpose: whether the convolution is a transposed one (False).

    >>> conv, norm = taeda.nn.Conv2d(1, 2, 3), taeda.nn.BatchNorm2d(2).eval()
    >>> weight, bias = taeda.nn.utils.fuse_conv_bn_weights(
    ...     conv.weight, conv.bias, norm.running_mean, norm.running_var, norm.eps,
    ...     norm.weight, norm.bias,
    ... )
    >>> x = taeda.rand(1, 1, 5, 5)
    >>> taeda.allclose(taeda.nn.functional.conv2d(x, weight, bias), norm(conv(x)), atol=1e-5)
    True
    """
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

    Args:
        linear: a Linear in evaluation mode.
        bn: a batch norm in evaluation mode, with running statistics.

    >>> linear, bn = taeda.nn.Linear(3, 4).eval(), taeda.nn.BatchNorm1d(4).eval()
    >>> fuse_linear_bn_eval(linear, bn)(taeda.zeros(2, 3)).shape
    taeda.Size([2, 4])
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
    """Weight and bias of the fused Linear.

    Args:
        linear_w: weight of the Linear, (outputs, inputs).
        linear_b: its bias, (outputs) (None: none).
        bn_rm: running mean, (C).
        bn_rv: running variance, (C).
        bn_eps: `eps` of the normalisation.
        bn_w: its weight, (C) (None: all 1).
        bn_b: its bias, (C) (None: all 0).

    >>> linear, norm = taeda.nn.Linear(2, 3), taeda.nn.BatchNorm1d(3).eval()
    >>> weight, bias = taeda.nn.utils.fuse_linear_bn_weights(
    ...     linear.weight, linear.bias, norm.running_mean, norm.running_var, norm.eps,
    ...     norm.weight, norm.bias,
    ... )
    >>> x = taeda.rand(4, 2)
    >>> taeda.allclose(taeda.nn.functional.linear(x, weight, bias), norm(linear(x)), atol=1e-5)
    True
    """
    with taeda.no_grad():
        scale, shift = _affine(linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
        weight = (linear_w * scale.unsqueeze(-1)).to(linear_w.dtype)
        bias = shift.expand(linear_w.size(0)).clone().to(linear_w.dtype)
    wanted = linear_w.requires_grad if linear_b is None else linear_b.requires_grad
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, wanted)
