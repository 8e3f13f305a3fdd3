"""Gradient descent, with momentum."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import (
    Algorithm,
    Group,
    State,
    check_implementation,
    check_lr,
    check_not_negative,
    number,
)
from ._formulas import add_scaled
from .optimizer import ParamsT

__all__ = ["SGD"]


class SGD(Algorithm):
    """Gradient descent: `p -= lr * v`, where `v` is the gradient, or with momentum a running sum.

    `v = momentum * v + (1 - dampening) * gradient`; the first step takes the gradient as it is.
    With `nesterov` the step is `gradient + momentum * v`. Weight decay is added to the gradient.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.001).
        momentum: factor of the running sum, at least 0 (0).
        dampening: share of the gradient that does not enter the running sum (0).
        weight_decay: factor of the parameter that is added to its gradient, at least 0 (0).
        nesterov: whether the step looks ahead along the momentum (False); needs momentum above 0
            and no dampening.
        maximize: whether steps go up the gradient instead of down (False).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        differentiable: whether a step is itself recorded for autograd (False).
        fused: whether one kernel does the whole step (None: chosen); not together with `foreach`.

    Sutskever and others, On the importance of initialization and momentum (2013).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = SGD([weight], lr=0.1)
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([ 0.8000, -1.6000])
    """

    _takes_complex_as_pairs = False  # the formula is linear
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "nesterov": False,
        "fused": None,
    }

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "Nesterov momentum requires a momentum and zero dampening, "
                f"got momentum={momentum} and dampening={dampening}"
            )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_implementation(foreach, fused, differentiable)
        self._step_supports_amp_scaling = bool(fused)

    def _start(self, param: Tensor, group: Group) -> State:
        return {"momentum_buffer": None} if group["momentum"] != 0 else {}

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        momentum, decay = group["momentum"], group["weight_decay"]
        if isinstance(decay, Tensor):
            grad = grad + decay * param
        elif decay != 0:
            grad = grad.add(param, alpha=decay)
        if momentum != 0:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        lr = group["lr"]
        add_scaled(param, grad, -lr)

    def _update_sparse(self, param: Tensor, grad: Any, state: State, group: Group) -> None:
        if isinstance(group["weight_decay"], Tensor) or group["weight_decay"] != 0:
            raise RuntimeError(
                "weight_decay option is not compatible with sparse gradients: it changes every row. "
                "Decay the rows that are used in the loss, or let the gradients be dense"
            )
        self._update(param, grad, state, group)

    def _fused_update(
        self, params: list[Tensor], grads: list[Tensor], states: list[State], group: Group
    ) -> bool:
        if group["momentum"] == 0:
            self._fused_call(params, grads, [], group, first=False)
            return True
        fresh = [state.get("momentum_buffer") is None for state in states]
        for first in set(fresh):
            picked = [i for i, is_fresh in enumerate(fresh) if is_fresh == first]
            if first:
                for i in picked:
                    states[i]["momentum_buffer"] = taeda.empty_like(grads[i])
            buffers = [states[i]["momentum_buffer"] for i in picked]
            self._fused_call(
                [params[i] for i in picked], [grads[i] for i in picked], buffers, group, first
            )
        return True

    def _fused_call(
        self,
        params: list[Tensor],
        grads: list[Tensor],
        buffers: list[Tensor],
        group: Group,
        first: bool,
    ) -> None:
        taeda._fused_sgd_(
            params,
            grads,
            buffers,
            weight_decay=number(group["weight_decay"]),
            momentum=group["momentum"],
            lr=number(group["lr"]),
            dampening=group["dampening"],
            nesterov=group["nesterov"],
            maximize=group["maximize"],
            is_first_step=first,
            grad_scale=getattr(self, "grad_scale", None),
            found_inf=getattr(self, "found_inf", None),
        )
