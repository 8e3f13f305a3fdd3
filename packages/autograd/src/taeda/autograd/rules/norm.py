"""Derivatives of the normalisations.

All are y = h·w + b with h = (x - mean)·r and r = 1 / deviation, over some dimensions. With M the
mean over those and P(u) = u - M(u) - h·M(u·h) (without M(u) where nothing is centred), which is
symmetric, the gradients are

    dx = r·P(g·w)    dw = sum of g·h    db = sum of g

and since dh = r·P(dx), dr = -r²·M(h·dx), those can be differentiated once more in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import taeda
from taeda import Tensor

from ._registry import differentiated, rule_joint, rule_joint_as_is

Gradient = Tensor | None
Mean = Callable[[Tensor], Tensor]


def _second(
    v: Gradient,
    vw: Gradient,
    vb: Gradient,
    g: Tensor,
    h: Tensor,
    r: Tensor,
    w: Gradient,
    mean: Mean,
    centred: bool = True,
) -> tuple[Tensor, Tensor, Gradient]:
    """Gradients with respect to g, x and (before it is summed to w's shape) w.

    v, vw, vb are those with respect to dx, dw and db; all tensors broadcast to x's shape.
    """

    def project(u: Tensor) -> Tensor:
        rest = u - h * mean(u * h)
        return rest - mean(u) if centred else rest

    to_g, to_x, to_w = taeda.zeros_like(g), taeda.zeros_like(g), None
    if v is not None:
        u = g if w is None else g * w
        back = r * project(v)
        to_g = to_g + (back if w is None else back * w)
        to_w = g * back
        mixed = v * mean(u * h) + u * mean(v * h)
        to_x = to_x - r * r * (h * mean(v * project(u)) + project(mixed))
    if vw is not None:
        to_g = to_g + vw * h
        to_x = to_x + r * project(vw * g)
    if vb is not None:
        to_g = to_g + vb
    return to_g, to_x, to_w


def _mean_over(dims: Sequence[int]) -> Mean:
    return lambda t: t.mean(list(dims), True)


def _alive(x: Tensor, m: Tensor, r: Tensor, mean: Mean) -> tuple[Tensor, Tensor]:
    """The saved statistics, their values unchanged, as functions of x: third derivatives pass
    through them.
    """
    if not differentiated():
        return m, r
    middle = mean(x)
    m = m + (middle - middle.detach())
    return m, _alive_deviation(mean((x - middle) ** 2), r)


def _alive_deviation(variance: Tensor, r: Tensor) -> Tensor:
    return (r.detach() ** -2 + (variance - variance.detach())).rsqrt()


# ---- layer_norm and rms_norm ----


@rule_joint_as_is("native_layer_norm", differentiable_results=1)
def _layer_norm(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    input: Tensor,
    normalized_shape: list[int],
    weight: Gradient,
    bias: Gradient,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Gradient, ...]:
    grad = grads[0]
    if grad is None:
        return (None, None, None)
    mask = (needs[0], needs[1] and weight is not None, needs[2] and bias is not None)
    return taeda.native_layer_norm_backward(
        grad, input, normalized_shape, result1, result2, weight, bias, mask
    )


@rule_joint("native_layer_norm_backward")
def _layer_norm_again(
    grads: tuple[Gradient, ...],
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Gradient,
) -> tuple[Gradient, ...]:
    over = _mean_over(range(input.dim() - len(normalized_shape), input.dim()))
    mean, rstd = _alive(input, mean, rstd, over)
    h = (input - mean) * rstd
    to_g, to_x, to_w = _second(*grads, grad_out, h, rstd, weight, over)
    return (to_g, to_x, None, None, to_w if weight is not None else None, None)


@rule_joint_as_is("_fused_rms_norm", differentiable_results=1)
def _rms_norm(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    input: Tensor,
    normalized_shape: list[int],
    weight: Gradient,
    result1: Tensor,
) -> tuple[Gradient, ...]:
    grad = grads[0]
    if grad is None:
        return (None, None)
    mask = (needs[0], needs[1] and weight is not None)
    return taeda._fused_rms_norm_backward(grad, input, normalized_shape, result1, weight, mask)


@rule_joint("_fused_rms_norm_backward")
def _rms_norm_again(
    grads: tuple[Gradient, ...],
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    rstd: Tensor,
    weight: Gradient,
) -> tuple[Gradient, ...]:
    over = _mean_over(range(input.dim() - len(normalized_shape), input.dim()))
    if differentiated():
        rstd = _alive_deviation(over(input**2), rstd)
    h = input * rstd
    to_g, to_x, to_w = _second(*grads, None, grad_out, h, rstd, weight, over, centred=False)
    return (to_g, to_x, None, to_w if weight is not None else None)


# ---- batch_norm ----


def _along_channels(vector: Gradient, ndim: int) -> Gradient:
    return None if vector is None else vector.view(-1, *[1] * (ndim - 2))


@rule_joint_as_is("_batch_norm", differentiable_results=1)
def _batch_norm(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    input: Tensor,
    weight: Gradient,
    bias: Gradient,
    training: bool,
    eps: float,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Gradient, ...]:
    grad = grads[0]
    if grad is None:
        return (None,) * 5
    mask = (needs[0], needs[1] and weight is not None, needs[2] and bias is not None)
    made = taeda.native_batch_norm_backward(
        grad, input, weight, None, None, result1, result2, training, eps, mask
    )
    return (*made, None, None)


@rule_joint("native_batch_norm_backward")
def _batch_norm_again(
    grads: tuple[Gradient, ...],
    grad_out: Tensor,
    input: Tensor,
    weight: Gradient,
    running_mean: Gradient,
    running_var: Gradient,
    save_mean: Gradient,
    save_invstd: Gradient,
    train: bool,
    eps: float,
) -> tuple[Gradient, ...]:
    ndim = input.dim()
    if not train and running_mean is not None and running_var is not None:
        mean, r = running_mean, (running_var + eps).rsqrt()
    else:
        mean, r = save_mean, save_invstd
    mean, r, w = (_along_channels(t, ndim) for t in (mean, r, weight))
    v, vw, vb = (grads[0], *(_along_channels(t, ndim) for t in grads[1:]))
    over = _mean_over([0, *range(2, ndim)])
    if train:
        mean, r = _alive(input, mean, r, over)
    h = (input - mean) * r
    if train:
        to_g, to_x, to_w = _second(v, vw, vb, grad_out, h, r, w, over)
    else:
        to_g, to_x, to_w = _of_constants(v, vw, vb, grad_out, h, r, w)
    if to_w is not None and weight is not None:
        to_w = to_w.sum([0, *range(2, ndim)]).view(weight.shape)
    return (to_g, to_x, to_w if weight is not None else None, None, None, None, None)


def _of_constants(
    v: Gradient,
    vw: Gradient,
    vb: Gradient,
    g: Tensor,
    h: Tensor,
    r: Tensor,
    w: Gradient,
) -> tuple[Tensor, Gradient, Gradient]:
    """The same where mean and deviation do not depend on x: dx = g·w·r."""
    to_g, to_x, to_w = taeda.zeros_like(g), None, None
    if v is not None:
        to_g = to_g + (v * r if w is None else v * r * w)
        to_w = g * v * r
    if vw is not None:
        to_g = to_g + vw * h
        to_x = vw * g * r
    if vb is not None:
        to_g = to_g + vb
    return to_g, to_x, to_w


# ---- group_norm ----


@rule_joint_as_is("native_group_norm")
def _group_norm(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    input: Tensor,
    weight: Gradient,
    bias: Gradient,
    N: int,
    C: int,
    HxW: int,
    group: int,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Gradient, ...]:
    grad = taeda.zeros_like(input) if grads[0] is None else grads[0]
    mask = (needs[0], needs[1] and weight is not None, needs[2] and bias is not None)
    to_x, to_w, to_b = taeda.native_group_norm_backward(
        grad, input, result1, result2, weight, N, C, HxW, group, mask
    )
    if needs[0] and not (grads[1] is None and grads[2] is None):
        to_x = to_x + _through_statistics(grads[1:], input, result1, result2)
    return to_x, to_w, to_b


def _through_statistics(
    grads: tuple[Gradient, ...], input: Tensor, mean: Tensor, rstd: Tensor
) -> Tensor:
    """What comes back through the mean and 1 / deviation of every group, (N, group)."""
    x = input.reshape(*mean.shape, input.numel() // max(1, mean.numel()))
    m, r = mean.unsqueeze(-1), rstd.unsqueeze(-1)
    total = taeda.zeros_like(x)
    if grads[0] is not None:
        total = total + grads[0].unsqueeze(-1)
    if grads[1] is not None:
        total = total - grads[1].unsqueeze(-1) * r**3 * (x - m)
    return (total / max(1, x.shape[-1])).reshape(input.shape)


@rule_joint("native_group_norm_backward")
def _group_norm_again(
    grads: tuple[Gradient, ...],
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Gradient,
    N: int,
    C: int,
    HxW: int,
    group: int,
) -> tuple[Gradient, ...]:
    each = C // group
    full, per_channel = (N, group, each, HxW), (1, group, each, 1)
    m, r = mean.reshape(N, group, 1, 1), rstd.reshape(N, group, 1, 1)
    x, g = input.reshape(full), grad_out.reshape(full)
    v = None if grads[0] is None else grads[0].reshape(full)
    w, vw, vb = (None if t is None else t.reshape(per_channel) for t in (weight, *grads[1:]))
    h = (x - m) * r  # m and r are results of group_norm, with derivatives of their own
    to_g, to_x, to_w = _second(v, vw, vb, g, h, r, w, _mean_over([2, 3]))
    shape = input.shape
    if to_w is not None and weight is not None:
        to_w = to_w.sum([0, 3]).view(weight.shape)
    return (
        to_g.reshape(shape),
        to_x.reshape(shape),
        None,
        None,
        to_w if weight is not None and math.prod(shape) else None,
    )
