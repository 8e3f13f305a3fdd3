"""Muon: momentum whose matrix is brought near an orthogonal one before it is applied."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import taeda
from taeda import Tensor

from ._base import Algorithm, Group, State
from .optimizer import ParamsT

__all__ = ["Muon"]

# iterations that push all singular values of a matrix towards 1, by Newton and Schulz
_MOST_ITERATIONS = 100


class Muon(Algorithm):
    """MomentUm Orthogonalized by Newton-Schulz, by Jordan and others (2024). For matrices only.

    `ns_coefficients` and `ns_steps` are the polynomial and the number of iterations, done in
    bfloat16. `adjust_lr_fn` scales the rate by the shape of a matrix: "original" by
    sqrt(max(1, rows / columns)), "match_rms_adamw" by sqrt(max(rows, columns)) / 5.

    Args:
        params: the tensors to optimise: an iterable of them, of (name, tensor) pairs, or of dicts
            with own options for each group.
        lr: the learning rate, a number or a tensor of one element, at least 0 (0.001).
        weight_decay: decoupled: the parameter is multiplied by 1 - lr · weight_decay, at least 0
            (0.1).
        momentum: decay of the mean of gradients, at least 0 (0.95).
        nesterov: whether the step looks ahead along the momentum (True).
        ns_coefficients: the three coefficients of the iteration's polynomial (3.4445, -4.775,
            2.0315).
        eps: least norm by which a matrix is divided (1e-7).
        ns_steps: number of iterations, less than 100 (5).
        adjust_lr_fn: None (as "original"), "original" or "match_rms_adamw" (None).

    >>> weight = taeda.eye(2, requires_grad=True)
    >>> optimizer = Muon([weight])
    """

    _takes_complex_as_pairs = False
    _later_options: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got shape {tuple(lr.shape)}")
        for name, value in (
            ("Learning rate", lr),
            ("momentum", momentum),
            ("weight decay", weight_decay),
        ):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{param.size()}"
                    )

    def _start(self, param: Tensor, group: Group) -> State:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        return {"momentum_buffer": taeda.zeros_like(param)}

    def _update(self, param: Tensor, grad: Tensor, state: State, group: Group) -> None:
        momentum, buffer = group["momentum"], state["momentum_buffer"]
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = group["lr"] * _shape_factor(group["adjust_lr_fn"], param.shape)
        param.mul_(1 - group["lr"] * group["weight_decay"])
        param.add_(update, alpha=-rate)


def _shape_factor(kind: str | None, shape: Any) -> float:
    rows, columns = shape
    if kind == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonalized(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    if steps >= _MOST_ITERATIONS:
        raise ValueError(f"Number of steps must be less than {_MOST_ITERATIONS}, got {steps}")
    if len(coefficients) != 3:
        raise ValueError(f"Coefficients must be a tuple of exactly 3 values, got {coefficients}")
    a, b, c = coefficients
    tall = matrix.size(0) > matrix.size(1)
    x = matrix.to(taeda.bfloat16)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        polynomial = taeda.addmm(gram, gram, gram, beta=b, alpha=c)
        x = taeda.addmm(x, polynomial, x, beta=a)
    return x.T if tall else x
