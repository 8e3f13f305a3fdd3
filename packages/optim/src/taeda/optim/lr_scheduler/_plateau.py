"""A schedule that waits for a measured value to stop getting better."""

from __future__ import annotations

import math
from typing import Any, SupportsFloat

from ..optimizer import Optimizer
from ._base import LRScheduler, check_optimizer, set_option, warn_epoch

__all__ = ["ReduceLROnPlateau"]


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when a value was not better for more than `patience` epochs.

    `mode` says whether lower ("min") or higher ("max") is better; better means by more than
    `threshold`, relative to the best value or absolute (`threshold_mode`). After a reduction
    `cooldown` epochs do not count. Rates stay above `min_lr`, one or one for each group, and are
    left alone if they would change by less than `eps`.

    Args:
        optimizer: the optimizer whose groups get their rates.
        mode: "min" (default) or "max".
        factor: factor of the rate, below 1 (0.1).
        patience: epochs without a better value that are let pass (10).
        threshold: how much better a better value is (1e-4).
        threshold_mode: "rel" (default) or "abs".
        cooldown: epochs after a reduction that do not count (0).
        min_lr: lower bound of the rates, one or a list with one for each group (0).
        eps: least change of a rate (1e-8).

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ReduceLROnPlateau(optimizer, patience=0)
    >>> scheduler.step(1.0)
    >>> scheduler.step(2.0)
    >>> scheduler.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: list[float] | float = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0. Got {factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown! It is 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown! It is 'rel' or 'abs'")
        self.factor = factor
        self.optimizer = check_optimizer(optimizer)
        self.default_min_lr, self.min_lrs = self._lowest(min_lr)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._last_lr = self._present()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self._reset()

    def _lowest(self, given: Any) -> tuple[Any, list[Any]]:
        count = len(self.optimizer.param_groups)
        if not isinstance(given, (list, tuple)):
            return given, [given] * count
        if len(given) != count:
            raise ValueError(f"expected {count} min_lrs, got {len(given)}")
        return None, list(given)

    def _reset(self) -> None:
        """Forget what was seen."""
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether epochs do not count at the moment."""
        return self.cooldown_counter > 0

    def get_lr(self) -> list[Any]:
        """The present rates."""
        return self._present()

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of an epoch's value, and reduce the rates if it is time."""
        value = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warn_epoch()
        self.last_epoch = epoch
        if self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self._present()

    def _is_better(self, value: float, best: float) -> bool:
        margin = self.threshold * best if self.threshold_mode == "rel" else self.threshold
        if math.isinf(best):
            margin = 0.0
        return value < best - margin if self.mode == "min" else value > best + margin

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):  # groups were added
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"the optimizer has {len(groups)} groups now, and min_lr was given for "
                    f"{len(self.min_lrs)}: give one number, or set min_lrs when groups are added"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, lowest in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, lowest)
            if old - new > self.eps:
                set_option(group, "lr", new)
