"""Derivatives of losses.

A pair loss f(x, t) has its gradient in one pass, the op <name>_backward(g, x, t, reduction), which is
linear in g. Its own derivative needs the second derivative of f by x, which is written out below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._registry import not_differentiable, rule, rule_joint, rule_joint_as_is
from .activation import sigmoid_slope

NONE, MEAN, SUM = range(3)
Gradient = Tensor | None
Curvature = Callable[..., Tensor]


def _scaled(grad: Tensor, like: Tensor, reduction: int) -> Tensor:
    """What a mean divides by, undone for single elements."""
    return grad / max(like.numel(), 1) if reduction == MEAN else grad


def _linear(product: Tensor, grad_output: Tensor, x: Tensor, reduction: int) -> Tensor:
    """The gradient by grad_output of grad_output · slope, given the product of grad and slope."""
    return product if reduction == NONE else _scaled(product.sum(), x, reduction)


def _size(self: Tensor, target: Tensor) -> Tensor:
    return self if self.numel() >= target.numel() else target


# ---- losses of the difference: the gradient by the target is the negative one ----


def _mse_curvature(self: Tensor, target: Tensor) -> Tensor:
    return taeda.full_like(self - target, 2)


def _l1_curvature(self: Tensor, target: Tensor) -> Tensor:
    return taeda.zeros_like(self - target)


def _smooth_l1_curvature(self: Tensor, target: Tensor, beta: float) -> Tensor:
    inside = (self - target).abs() < beta
    return inside.to(self.dtype) / beta if beta else inside.to(self.dtype)


def _huber_curvature(self: Tensor, target: Tensor, delta: float) -> Tensor:
    return ((self - target).abs() <= delta).to(self.dtype)


def _of_difference(name: str, parameter: str, curvature: Curvature) -> None:
    """Both rules of a loss of self - target, whose parameter (if any) is called `parameter`."""
    backward = getattr(_nn, f"{name}_backward")

    def first(
        grads: Any, needs: Any, self: Tensor, target: Tensor, reduction: int, *rest: float
    ) -> Any:
        made = backward(grads[0], self, target, reduction, *rest)
        return (made if needs[0] else None, -made if needs[1] else None)

    def second(
        grads: Any,
        needs: Any,
        grad_output: Tensor,
        self: Tensor,
        target: Tensor,
        reduction: int,
        *rest: float,
    ) -> Any:
        grad = grads[0]
        one = taeda.ones_like(grad)
        slope = backward(one, self, target, NONE, *rest)
        by_grad = _linear(grad * slope, grad_output, slope, reduction)
        factor = _scaled(grad_output * grad, slope, reduction)
        by_self = factor * curvature(self, target, *rest) if needs[1] or needs[2] else None
        return (by_grad, by_self, None if by_self is None else -by_self)

    _register(name, parameter, first, second, as_is=True)


def _register(
    name: str, parameter: str, first: Callable, second: Callable, as_is: bool = False
) -> None:
    """Register under the argument names of the schema, with or without a parameter."""
    forward = rule_joint(name, differentiable_results=1, as_is=as_is)
    again = rule_joint(f"{name}_backward")
    if parameter == "beta":
        forward(
            lambda grads, needs, self, target, reduction, beta: first(
                grads, needs, self, target, reduction, beta
            )
        )
        again(
            lambda grads, needs, grad_output, self, target, reduction, beta: second(
                grads, needs, grad_output, self, target, reduction, beta
            )
        )
    elif parameter == "delta":
        forward(
            lambda grads, needs, self, target, reduction, delta: first(
                grads, needs, self, target, reduction, delta
            )
        )
        again(
            lambda grads, needs, grad_output, self, target, reduction, delta: second(
                grads, needs, grad_output, self, target, reduction, delta
            )
        )
    else:
        forward(
            lambda grads, needs, self, target, reduction: first(
                grads, needs, self, target, reduction
            )
        )
        again(
            lambda grads, needs, grad_output, self, target, reduction: second(
                grads, needs, grad_output, self, target, reduction
            )
        )


_of_difference("mse_loss", "", _mse_curvature)
_of_difference("_l1_loss", "", _l1_curvature)
_of_difference("smooth_l1_loss", "beta", _smooth_l1_curvature)
_of_difference("huber_loss", "delta", _huber_curvature)

# ---- other pair losses: slope, curvature, and the derivatives by the target ----


def _of_pair(name: str, by_target: Callable, curvature: Callable, mixed: Callable) -> None:
    """f(x, t) with df/dt = by_target, d²f/dx² = curvature, d²f/dxdt = mixed."""
    backward = getattr(_nn, f"{name}_backward")

    def first(grads: Any, needs: Any, self: Tensor, target: Tensor, reduction: int) -> Any:
        grad = grads[0]
        to_self = backward(grad, self, target, reduction) if needs[0] else None
        if not needs[1]:
            return (to_self, None)
        return (to_self, _scaled(grad, _size(self, target), reduction) * by_target(self, target))

    def second(
        grads: Any, needs: Any, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int
    ) -> Any:
        grad = grads[0]
        slope = backward(taeda.ones_like(grad), self, target, NONE)
        by_grad = _linear(grad * slope, grad_output, slope, reduction)
        factor = _scaled(grad_output * grad, slope, reduction)
        return (
            by_grad,
            factor * curvature(self, target) if needs[1] else None,
            factor * mixed(self, target) if needs[2] else None,
        )

    _register(name, "", first, second)


def _soft_margin_share(self: Tensor, target: Tensor) -> Tensor:
    return (-target * self).sigmoid()


def _soft_margin_mixed(self: Tensor, target: Tensor) -> Tensor:
    share = _soft_margin_share(self, target)
    return -share + target * self * sigmoid_slope(-target * self)


def _soft_margin_curvature(self: Tensor, target: Tensor) -> Tensor:
    return target * target * sigmoid_slope(-target * self)


_of_pair(
    "soft_margin_loss",
    lambda self, target: -self * _soft_margin_share(self, target),
    _soft_margin_curvature,
    _soft_margin_mixed,
)


def _room(self: Tensor) -> Tensor:
    """x·(1 - x), kept away from 0 as in the kernel."""
    return ((1 - self) * self).clamp_min(1e-12)


def _bce_curvature(self: Tensor, target: Tensor) -> Tensor:
    room = _room(self)
    return (self * self - 2 * self * target + target) / (room * room)


_of_pair(
    "_binary_cross_entropy",
    lambda self, target: taeda.log1p(-self).clamp_min(-100) - self.log().clamp_min(-100),
    _bce_curvature,
    lambda self, target: -1 / _room(self),
)


def _bce_logits_curvature(self: Tensor, target: Tensor) -> Tensor:
    return sigmoid_slope(self)


_of_pair(
    "_binary_cross_entropy_with_logits",
    lambda self, target: -self,
    _bce_logits_curvature,
    lambda self, target: taeda.full_like(self, -1),
)

# ---- class scores ----


def _by_steps(
    grad: Tensor,
    scores: Tensor,
    target: Tensor,
    weight: Tensor,
    reduction: int,
    ignore_index: int,
) -> tuple[Tensor, Tensor]:
    """Gradients of logarithms of probabilities and of the weights of classes, which the kernels have not."""
    axis = 0 if scores.dim() == 1 else 1
    target = target.reshape(()) if scores.dim() == 1 else target
    used = target != ignore_index
    safe = taeda.where(used, target, 0)
    weights = taeda.where(used, weight[safe], 0.0)
    losses = -scores.gather(axis, safe.unsqueeze(axis)).squeeze(axis)
    by_weights = losses
    if reduction == MEAN:
        total = weights.sum()
        weights = weights / total
        by_weights = (losses - (weights * losses).sum()) / total
    by_weights = taeda.where(used, by_weights * grad, 0.0)
    by_losses = (weights * grad).expand(target.shape).unsqueeze(axis)
    return (
        taeda.zeros_like(scores).scatter(axis, safe.unsqueeze(axis), -by_losses),
        taeda.zeros_like(weight).index_add(0, safe.flatten(), by_weights.flatten()),
    )


def _wide(*tensors: Tensor) -> tuple[Tensor, ...]:
    """With the digits that a difference of nearly equal losses leaves."""
    return tuple(t.double() for t in tensors)


@rule_joint_as_is("nll_loss_forward", differentiable_results=1)
def _nll(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    self: Tensor,
    target: Tensor,
    weight: Gradient,
    reduction: int,
    ignore_index: int,
    result1: Tensor,
) -> tuple[Gradient, ...]:
    if grads[0] is None:
        return (None, None, None)
    if needs[2] and weight is not None:
        grad, scores, heavy = _wide(grads[0], self, weight)
        by_self, by_weight = _by_steps(grad, scores, target, heavy, reduction, ignore_index)
        return (by_self, None, by_weight)
    made = _nn.nll_loss_backward(grads[0], self, target, weight, reduction, ignore_index, result1)
    return (made, None, None)


def _nll_again(
    grad: Tensor,
    grad_output: Tensor,
    target: Tensor,
    weight: Gradient,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    """The gradient is -onehot·scale, linear in grad_output. A weight with a gradient goes by steps."""
    axis = 0 if grad.dim() == 1 else 1
    target = target.reshape(()) if grad.dim() == 1 else target
    safe = taeda.where(target != ignore_index, target, 0).unsqueeze(axis)
    heavy = None if weight is None else weight.detach()
    scale = _target_scale(target, heavy, reduction, ignore_index, total_weight, grad.dtype)
    made = -scale * grad.gather(axis, safe).squeeze(axis)
    return (made.sum() if reduction != NONE else made).reshape(grad_output.shape)


def _target_scale(
    target: Tensor, weight: Gradient, reduction: int, ignore_index: int, total: Tensor, dtype: Any
) -> Tensor:
    """The factor of every target's loss, apart from the incoming gradient; 0 where it is ignored."""
    used = target != ignore_index
    scale = used.to(dtype)
    if weight is not None:
        scale = scale * weight[taeda.where(used, target, 0)]
    return taeda.where(used, scale / total, 0.0) if reduction == MEAN else scale


rule("nll_loss_backward", grad_output=_nll_again, self=lambda grad: taeda.zeros_like(grad))


@rule_joint_as_is("_cross_entropy", differentiable_results=1)
def _cross_entropy(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    self: Tensor,
    target: Tensor,
    weight: Gradient,
    reduction: int,
    ignore_index: int,
    result1: Tensor,
    result2: Tensor,
) -> tuple[Gradient, ...]:
    if grads[0] is None:
        return (None, None, None)
    if needs[2] and weight is not None:
        grad, scores, heavy = _wide(grads[0], self, weight)
        axis = 0 if self.dim() == 1 else 1
        scores = scores.log_softmax(axis)
        by_scores, by_weight = _by_steps(grad, scores, target, heavy, reduction, ignore_index)
        by_self = by_scores - scores.exp() * by_scores.sum(axis, True)
        return (by_self, None, by_weight)
    made = _nn._cross_entropy_backward(
        grads[0], self, target, weight, reduction, ignore_index, result1, result2
    )
    return (made, None, None)


@rule_joint("_cross_entropy_backward")
def _cross_entropy_again(
    grads: tuple[Gradient, ...],
    needs: tuple[bool, ...],
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Gradient,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> tuple[Gradient, ...]:
    """The gradient is (p - onehot)·scale, with p = softmax(x) and scale linear in grad_output."""
    grad = grads[0]
    axis = 0 if self.dim() == 1 else 1
    p = self.softmax(axis)
    target = target.reshape(()) if self.dim() == 1 else target
    used = target != ignore_index
    safe = taeda.where(used, target, 0).unsqueeze(axis)
    inner = (grad * p).sum(axis, True)
    scale = _target_scale(target, weight, reduction, ignore_index, total_weight, self.dtype)
    by_grad = scale * (inner - grad.gather(axis, safe)).squeeze(axis)
    to_grad = by_grad.sum() if reduction != NONE else by_grad
    to_self = None
    if needs[1]:  # scale · grad_output may be infinite where p is 0
        whole = grad_output if reduction != NONE else grad_output.unsqueeze(axis)
        to_self = p * (grad - inner) * scale.unsqueeze(axis) * whole
    return (to_grad.reshape(grad_output.shape), to_self, None, None, None, None)


# ---- margins between classes ----


@rule_joint("_margin_loss", differentiable_results=1)
def _margins(
    grads: tuple[Gradient, ...], self: Tensor, target: Tensor, result1: Tensor
) -> tuple[Gradient, ...]:
    """The slope is constant but for steps, so it has no derivative of its own."""
    return (None if grads[0] is None else grads[0].unsqueeze(1) * result1, None)


not_differentiable("_alignments", "ctc_loss has its gradient from both directions of it")
