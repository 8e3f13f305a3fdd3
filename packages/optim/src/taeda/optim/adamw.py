"""AdamW: Adam whose weight decay shrinks the parameters themselves."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .adam import Adam
from .optimizer import ParamsT

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam with decoupled weight decay, by Loshchilov and Hutter (arXiv:1711.05101).

    Each step multiplies a parameter by `1 - lr * weight_decay` before Adam's update.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.001).
        betas: decay rates of the means of gradients and of their squares, both in [0, 1) (0.9,
            0.999); two numbers or two tensors of one element.
        eps: added to the divisor, at least 0 (1e-8).
        weight_decay: factor of the decay, at least 0 (0.01).
        amsgrad: whether the divisor is the largest so far, by Reddi and others (arXiv:1904.09237)
            (False).
        maximize: whether steps go up the gradient instead of down (False).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        capturable: whether step counts are tensors beside the parameters, so that a graph of the
            device can record a step (False); refused where the device has none.
        differentiable: whether a step is itself recorded for autograd (False).
        fused: whether one kernel does the whole step (None: chosen); not together with `foreach`.

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = AdamW([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:  # also when the saved state was Adam's
            group["decoupled_weight_decay"] = True
