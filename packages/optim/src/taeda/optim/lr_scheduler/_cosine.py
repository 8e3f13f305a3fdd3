"""Schedules along a cosine: once, or again and again."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts"]


class CosineAnnealingLR(LRScheduler):
    """The rate on a cosine, from its initial value down to `eta_min` in `T_max` epochs, and back.

    Args:
        optimizer: the optimizer whose groups get their rates.
        T_max: epochs from the highest rate to the lowest.
        eta_min: the lowest rate (0).
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    rate = eta_min + (first - eta_min) · (1 + cos(pi · epoch / T_max)) / 2.

    Loshchilov and Hutter (arXiv:1608.03983), without the restarts.

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = CosineAnnealingLR(optimizer, T_max=10)
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, from the present ones."""
        self._warn_outside_step()
        epoch, half, least = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._present()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - half) % (2 * half) == 0:  # at the bottom, where a factor cannot lead up
            rise = (1 - math.cos(math.pi / half)) / 2
            pairs = zip(self._present(), self.base_lrs, strict=True)
            return [rate + (base - least) * rise for rate, base in pairs]
        factor = (1 + math.cos(math.pi * epoch / half)) / (
            1 + math.cos(math.pi * (epoch - 1) / half)
        )
        return [factor * (rate - least) + least for rate in self._present()]

    def _get_closed_form_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate on a cosine down to `eta_min`, again and again.

    The first time takes `T_0` epochs, each further one `T_mult` times as long as the one before.
    `step` also takes fractions of epochs.

    Args:
        optimizer: the optimizer whose groups get their rates.
        T_0: epochs of the first cycle, an int of at least 1.
        T_mult: by how much each cycle is longer than the one before, an int of at least 1 (1).
        eta_min: the lowest rate (0).
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    Loshchilov and Hutter (arXiv:1608.03983).

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=10)
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(
                f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}"
            )
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates at `T_cur` epochs after the last restart."""
        self._warn_outside_step()
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        else:
            self._go_to(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _go_to(self, epoch: float) -> None:
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            mult = self.T_mult
            restarts = int(math.log(epoch / self.T_0 * (mult - 1) + 1, mult))
            self.T_cur = epoch - self.T_0 * (mult**restarts - 1) / (mult - 1)
            self.T_i = self.T_0 * mult**restarts
