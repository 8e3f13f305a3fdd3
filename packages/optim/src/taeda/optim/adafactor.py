"""Adafactor: a mean of squared gradients that takes a row and a column of memory, not a matrix."""

from __future__ import annotations

from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import Algorithm, Group, State, next_step, step_counter
from ._formulas import add_scaled
from .optimizer import ParamsT

__all__ = ["Adafactor"]


class Adafactor(Algorithm):
    """Adafactor, by Shazeer and Stern (arXiv:1804.04235).

    The step length is relative to the size of the parameter; an update whose root mean square is
    above `d` is scaled down to it. `eps` holds the least mean of squares (None: the dtype's eps)
    and the least size of a parameter.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: upper bound of the relative step, a number or a tensor of one element, at least 0
            (0.01).
        beta2_decay: exponent, at most 0: the mean of squares decays by 1 - step ** beta2_decay
            (-0.8).
        eps: two numbers of at least 0: the least mean of squares (None: the dtype's eps) and the
            least size of a parameter (None, 0.001).
        d: root mean square above which an update is scaled down, at least 1 (1).
        weight_decay: decoupled: the parameter is multiplied by 1 - lr · weight_decay, at least 0
            (0).
        foreach: whether lists of tensors are updated together (None: chosen); the values are the
            same.
        maximize: whether steps go up the gradient instead of down (False).

    >>> weight = taeda.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = Adafactor([weight])
    >>> weight.square().sum().backward()
    >>> optimizer.step()
    """

    _takes_complex_as_pairs = False
    _later_options: ClassVar[dict[str, Any]] = {"foreach": None}

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got shape {tuple(lr.shape)}")
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _start(self, param: Tensor, group: Group) -> State:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = {"step": step_counter(param, group)}
        if param.ndim > 1:
            *front, rows, columns = param.shape
            state["row_var"] = param.new_zeros((*front, rows, 1))
            state["col_var"] = param.new_zeros((*front, 1, columns))
        else:
            state["variance"] = taeda.zeros_like(param)
        return state

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        t = next_step(state, group)
        least_square, least_size = group["eps"]
        if least_square is None:
            least_square = taeda.finfo(param.dtype).eps
        fresh = t ** group["beta2_decay"]  # weight of the newest squares
        relative = min(float(group["lr"]), 1 / t**0.5)
        rate = max(least_size, _root_mean_square(param)) * relative
        if group["weight_decay"] != 0:
            param.mul_(1 - group["lr"] * group["weight_decay"])
        squares = _mean_squares(grad, state, fresh, least_square)
        update = squares.clamp(min=least_square * least_square).rsqrt() * grad
        excess = max(1.0, _root_mean_square(update) / group["d"])
        add_scaled(param, update, -rate / excess)


def _root_mean_square(x: Tensor) -> float:
    return x.norm(2).item() / x.numel() ** 0.5 if x.numel() else 0.0


def _mean_squares(grad: Tensor, state: State, fresh: float, least: float) -> Tensor:
    """The running mean of squared gradients; of matrices as the product of a column and a row."""
    if "variance" in state:
        return state["variance"].lerp_(grad.square(), fresh)
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_(grad.square().mean(-1, keepdim=True), fresh)
    columns.lerp_(grad.square().mean(-2, keepdim=True), fresh)
    return rows @ columns / rows.mean(-2, keepdim=True).clamp(min=least)
