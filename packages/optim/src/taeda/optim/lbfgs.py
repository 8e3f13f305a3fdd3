"""L-BFGS: steps from an estimate of the curvature, made of the last gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._base import check_lr
from ._line_search import strong_wolfe
from .optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]

# a pair of steps and changes of gradient with less than this between them says nothing of curvature
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """The limited-memory method of Broyden, Fletcher, Goldfarb and Shanno, after Nocedal (1980).

    One `step(closure)` does up to `max_iter` iterations, with up to `max_eval` calls of the closure
    (1.25 times as many unless given). It ends early when no gradient is above `tolerance_grad`, or
    nothing changes by more than `tolerance_change`. `line_search_fn` is None (steps of length `lr`)
    or "strong_wolfe". One parameter group only. Keeps `history_size` pairs of tensors, each as long
    as all parameters together.

    Args:
        params: the tensors to optimise, as one group.
        lr: length of a step, a number or a tensor of one element, at least 0 (1).
        max_iter: most iterations of one `step` (20).
        max_eval: most calls of the closure in one `step` (None: max_iter · 5 // 4).
        tolerance_grad: largest absolute gradient at which the search ends (1e-7).
        tolerance_change: least change of the loss or of a parameter for which it goes on (1e-9).
        history_size: number of pairs of tensors that are kept (100).
        line_search_fn: None or "strong_wolfe" (None).

    >>> x = taeda.tensor([3.0], requires_grad=True)
    >>> optimizer = LBFGS([x])
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups), "
                f"got {len(self.param_groups)} groups"
            )
        self._params: list[Tensor] = self.param_groups[0]["params"]

    # ---- all parameters as one vector ----

    def _vector_of(self, parts: list[Tensor]) -> Tensor:
        return taeda.cat([_real(part).reshape(-1) for part in parts], 0)

    def _gradient(self) -> Tensor:
        grads: list[Any] = [
            p.new_zeros(p.shape) if p.grad is None else p.grad for p in self._params
        ]
        return self._vector_of([g if g.layout is taeda.strided else g.to_dense() for g in grads])

    def _move(self, length: Any, direction: Tensor) -> None:
        start = 0
        for param in map(_real, self._params):
            part = direction[start : start + param.numel()].view_as(param)
            param.add_(part, alpha=float(length))
            start += param.numel()

    def _loss_at(
        self, start: list[Tensor], closure: Callable[[], Any], length: Any, direction: Tensor
    ) -> tuple[float, Tensor]:
        """Loss and gradient `length` along `direction`; the parameters go back to `start`."""
        self._move(length, direction)
        loss = float(closure())
        gradient = self._gradient()
        for param, value in zip(self._params, start, strict=True):
            param.copy_(value)
        return loss, gradient

    # ---- the step ----

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Do up to `max_iter` iterations; return the first loss that `closure` gave.

        `closure` clears the gradients, computes the loss, calls backward and returns the loss.
        """
        with taeda.no_grad():
            return _Run(self, closure).run()


def _real(x: Tensor) -> Tensor:
    return taeda.view_as_real(x) if x.is_complex() else x


# what one step leaves for the next, in the order of the state
_KEPT = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class _Run:
    """One call of `step`: its iterations, and the state they leave in the optimizer."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self.optimizer = optimizer
        self.group = optimizer.param_groups[0]
        self.state = optimizer.state[optimizer._params[0]]
        self.closure = closure
        self.state.setdefault("func_evals", 0)
        self.state.setdefault("n_iter", 0)
        self.kept: dict[str, Any] = {name: self.state.get(name) for name in _KEPT}

    def evaluate(self) -> Any:
        with taeda.enable_grad():
            return self.closure()

    def is_flat(self) -> bool:
        return bool(self.gradient.abs().max() <= self.group["tolerance_grad"])

    def run(self) -> Any:
        first = self.evaluate()
        self.loss, self.evaluations = float(first), 1
        self.state["func_evals"] += 1
        self.gradient = self.optimizer._gradient()
        if self.is_flat():
            return first
        for iteration in range(1, self.group["max_iter"] + 1):
            if self.iterate(last=iteration == self.group["max_iter"]):
                break
        self.state.update(self.kept)
        return first

    def iterate(self, last: bool) -> bool:
        """One iteration; True if it was the last, because of a criterion."""
        state, kept, group = self.state, self.kept, self.group
        state["n_iter"] += 1
        kept["d"] = direction = self.direction()
        if kept["prev_flat_grad"] is None:
            kept["prev_flat_grad"] = self.gradient.clone()
        else:
            kept["prev_flat_grad"].copy_(self.gradient)
        kept["prev_loss"] = before = self.loss
        lr = group["lr"]
        kept["t"] = min(1.0, 1.0 / self.gradient.abs().sum()) * lr if state["n_iter"] == 1 else lr
        slope = self.gradient.dot(direction)
        if slope > -group["tolerance_change"]:
            return True
        used, flat = self.advance(direction, slope, last)
        self.evaluations += used
        state["func_evals"] += used
        return (
            last
            or self.evaluations >= group["max_eval"]
            or flat
            or bool((direction * kept["t"]).abs().max() <= group["tolerance_change"])
            or abs(self.loss - before) < group["tolerance_change"]
        )

    def advance(self, direction: Tensor, slope: Tensor, last: bool) -> tuple[int, bool]:
        """Take the step; the number of evaluations used, and whether the gradient is flat now."""
        optimizer, kept, search = self.optimizer, self.kept, self.group["line_search_fn"]
        if search is None:
            optimizer._move(kept["t"], direction)
            if last:
                return 0, False
            self.loss, self.gradient = float(self.evaluate()), optimizer._gradient()
            return 1, self.is_flat()
        if search != "strong_wolfe":
            raise RuntimeError(f"only 'strong_wolfe' is supported, got line_search_fn={search!r}")
        start = [param.clone() for param in optimizer._params]
        found, used = strong_wolfe(
            lambda length: optimizer._loss_at(start, self.evaluate, length, direction),
            direction,
            kept["t"],
            self.loss,
            self.gradient,
            slope,
        )
        self.loss, self.gradient, kept["t"] = found.loss, found.gradient, found.length
        optimizer._move(kept["t"], direction)
        return used, self.is_flat()

    def direction(self) -> Tensor:
        """Minus the gradient, times the estimate of the inverse curvature."""
        state, kept = self.state, self.kept
        if state["n_iter"] == 1:
            kept.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return self.gradient.neg()
        self.remember(self.gradient - kept["prev_flat_grad"], kept["d"] * kept["t"])
        changes, steps, inverses = kept["old_dirs"], kept["old_stps"], kept["ro"]
        weights = state.setdefault("al", [None] * self.group["history_size"])
        vector = self.gradient.neg()
        for i in range(len(changes) - 1, -1, -1):
            weights[i] = steps[i].dot(vector) * inverses[i]
            vector.add_(changes[i], alpha=-float(weights[i]))
        vector.mul_(kept["H_diag"])
        for i in range(len(changes)):
            weight = changes[i].dot(vector) * inverses[i]
            vector.add_(steps[i], alpha=float(weights[i] - weight))
        return vector

    def remember(self, change: Tensor, step: Tensor) -> None:
        """Keep a step and the change of the gradient over it, if they tell of curvature."""
        kept = self.kept
        product = change.dot(step)
        if not product > _LEAST_CURVATURE:
            return
        lists = (kept["old_dirs"], kept["old_stps"], kept["ro"])
        if len(kept["old_dirs"]) == self.group["history_size"]:
            for values in lists:
                values.pop(0)
        for values, value in zip(lists, (change, step, 1.0 / product), strict=True):
            values.append(value)
        kept["H_diag"] = product / change.dot(change)
