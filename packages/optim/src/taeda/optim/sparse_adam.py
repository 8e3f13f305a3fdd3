"""Adam for sparse gradients: rows without a gradient keep their state and their value."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import (
    Algorithm,
    Group,
    State,
    check_betas,
    check_lr,
    check_not_negative,
    next_step,
    number,
    sparse,
)
from ._formulas import first_moments
from .optimizer import ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Algorithm):
    """Adam whose means are updated only where a sparse gradient has entries.

    Args:
        params: dense real tensors whose gradients are sparse, in the forms that other optimizers
            take.
        lr: the learning rate, above 0 (0.001).
        betas: decay rates of the means of gradients and of their squares, both in [0, 1) (0.9,
            0.999).
        eps: added to the divisor, at least 0 (1e-8).
        maximize: whether steps go up the gradient instead of down (False).

    >>> weight = taeda.zeros(3, 2, requires_grad=True)
    >>> optimizer = SparseAdam([weight])
    """

    _later_options: ClassVar[dict[str, Any]] = {"maximize": False}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}, it must be above 0")
        check_lr(lr)
        check_not_negative(epsilon=eps)
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [
            (p, [i, j])
            for i, group in enumerate(self.param_groups)
            for j, p in enumerate(group["params"])
        ]
        if found := [place for p, place in places if p.layout is not taeda.strided]:
            raise ValueError(
                f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors"
            )
        if found := [place for p, place in places if p.is_complex()]:
            raise ValueError(
                f"Complex params at indices {found}: SparseAdam does not support complex parameters"
            )

    def _start(self, param: Tensor, group: Group) -> State:
        return {
            "step": 0,
            **first_moments(param),
        }

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        raise RuntimeError(
            "SparseAdam does not support dense gradients, please consider Adam instead, or "
            "Embedding(sparse=True), which makes sparse ones"
        )

    def _update_sparse(self, param: Tensor, grad: Any, state: State, group: Group) -> None:
        t = next_step(state, group)
        grad = grad.coalesce()
        places, values, shape = grad._indices(), grad._values(), grad.shape
        if values.numel() == 0:
            return
        beta1, beta2 = group["betas"]
        old_mean = state["exp_avg"].sparse_mask(grad)._values()
        old_square = state["exp_avg_sq"].sparse_mask(grad)._values()
        mean_change = (values - old_mean) * (1 - beta1)
        square_change = (values.square() - old_square) * (1 - beta2)
        state["exp_avg"].add_(sparse(places, mean_change, shape))
        state["exp_avg_sq"].add_(sparse(places, square_change, shape))
        divisor = (old_square + square_change).sqrt() + group["eps"]
        rate = number(group["lr"]) * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
        update = (old_mean + mean_change) / divisor * -rate
        param.add_(sparse(places, update, shape))
