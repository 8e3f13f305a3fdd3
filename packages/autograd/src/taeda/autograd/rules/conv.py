"""Derivatives of convolutions. A convolution is linear in each factor, so every derivative is a
convolution again.
"""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._registry import forward
from ._registry import rule_joint_as_is as rule_joint

Ints = Sequence[int]


@rule_joint("convolution")
def _convolution(
    grads: tuple[Tensor],
    needs: tuple[bool, ...],
    input: Tensor,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> tuple[Tensor | None, ...]:
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    return _nn.convolution_backward(grads[0], input.conj(), weight.conj(), *geometry, list(needs))


def _sum(parts: list[Tensor]) -> Tensor | None:
    total = None
    for part in parts:
        total = part if total is None else total + part
    return total


@rule_joint("convolution_backward")
def _convolution_backward(
    grads: tuple[Tensor | None, ...],
    needs: tuple[bool, ...],
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> tuple[Tensor | None, ...]:
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    by_input, by_weight, by_bias = grads
    to_grad, to_input, to_weight = [], None, None
    if needs[0] and by_input is not None:
        to_grad.append(taeda.convolution(by_input, weight.conj(), None, *geometry))
    if needs[0] and by_weight is not None:
        to_grad.append(taeda.convolution(input.conj(), by_weight, None, *geometry))
    if needs[0] and by_bias is not None:
        along = [1, -1] + [1] * (grad_output.dim() - 2)
        to_grad.append(by_bias.reshape(along).expand(grad_output.shape))
    if needs[1] and by_weight is not None:
        back = _nn.convolution_backward(
            grad_output.conj(), input, by_weight, *geometry, [True, False, False]
        )
        to_input = back[0]
    if needs[2] and by_input is not None:
        back = _nn.convolution_backward(
            grad_output.conj(), by_input, weight, *geometry, [False, True, False]
        )
        to_weight = back[1]
    return _sum(to_grad), to_input, to_weight


def _convolution_forward(
    input: Tensor,
    weight: Tensor,
    input_t: Tensor | None,
    weight_t: Tensor | None,
    bias_t: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Tensor | None:
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    parts = []
    if input_t is not None:
        parts.append(taeda.convolution(input_t, weight, None, *geometry))
    if weight_t is not None:
        parts.append(taeda.convolution(input, weight_t, None, *geometry))
    if bias_t is not None:
        parts.append(bias_t.reshape([-1] + [1] * (weight.dim() - 2)))
    return _sum(parts)


forward("convolution", _convolution_forward)
