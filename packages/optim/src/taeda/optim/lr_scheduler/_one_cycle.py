"""A schedule of one cycle over the whole training."""

from __future__ import annotations

import math
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, check_optimizer, values_for_groups
from ._momentum import check_momentum, set_momentum, start_momenta

__all__ = ["OneCycleLR"]


def _along_cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))


def _along_line(start: float, end: float, share: float) -> float:
    return (end - start) * share + start


_ANNEAL = {"cos": _along_cosine, "linear": _along_line}


class OneCycleLR(LRScheduler):
    """One cycle over the whole training, by Smith and Topin (2018): up to `max_lr`, then far down.

    `total_steps`, or `epochs * steps_per_epoch`, is how many steps the optimizer will make; step
    the scheduler after each. The rate begins at `max_lr / div_factor`, is highest after the share
    `pct_start`, and ends at a `final_div_factor`-th of the first rate. With `three_phase` the way
    down first mirrors the way up. Momentum goes the other way, unless `cycle_momentum=False`.

    Args:
        optimizer: the optimizer whose groups get their rates.
        max_lr: the highest rate, one or a list with one for each group.
        total_steps: steps of the whole cycle (None: epochs · steps_per_epoch).
        epochs: number of epochs (None); needed without `total_steps`.
        steps_per_epoch: steps of each epoch (None); needed without `total_steps`.
        pct_start: share of the steps that go up, in [0, 1] (0.3).
        anneal_strategy: shape of the ways up and down: "cos" (default) or "linear".
        cycle_momentum: whether momentum goes the other way (True); needs an optimizer that has one.
        base_momentum: the lowest momentum, one or a list (0.85).
        max_momentum: the highest momentum, one or a list (0.95).
        div_factor: max_lr / first rate, not 0 (25).
        final_div_factor: first rate / last rate, not 0 (1e4).
        three_phase: whether the way down first mirrors the way up, and a third phase goes to the
            last rate (False).
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    arXiv:1708.07120.

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> OneCycleLR(optimizer, max_lr=1.0, total_steps=100).get_last_lr()
    [0.040000000000000036]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.total_steps = _total_steps(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, (int, float)):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in _ANNEAL:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        for name, value in (("div_factor", div_factor), ("final_div_factor", final_div_factor)):
            if value == 0:
                raise ValueError(f"{name} divides a rate, and cannot be 0")
        self._schedule_phases = _phases(self.total_steps, float(pct_start), three_phase)
        self._anneal_func_type = anneal_strategy
        highest = values_for_groups(optimizer, max_lr, "max_lr")
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = check_momentum(optimizer)
            start_momenta(optimizer, base_momentum, max_momentum, last_epoch, self.use_beta1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates for step `last_epoch`; sets the momenta too."""
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        start = 0.0
        for phase in self._schedule_phases:
            if step <= phase["end_step"]:
                break
            if phase is not self._schedule_phases[-1]:
                start = phase["end_step"]
        share = (step - start) / (phase["end_step"] - start)
        between = _ANNEAL[self._anneal_func_type]
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(between(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                set_momentum(group, between(*ends, share), self.use_beta1)
        return rates


def _total_steps(total: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    given = {"total_steps": total}
    if total is None:
        given = {"epochs": epochs, "steps_per_epoch": steps_per_epoch}
    for name, value in given.items():
        if value <= 0 or not isinstance(value, int):
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return total if total is not None else epochs * steps_per_epoch


def _phases(total: int, share: float, three: bool) -> list[dict[str, Any]]:
    """Where each phase ends, and between which options of a group it goes."""
    up = share * total - 1
    ends: list[tuple[float, str, str, str, str]] = [(up, "initial_lr", "max_lr", "max", "base")]
    if three:
        ends.append((2 * share * total - 2, "max_lr", "initial_lr", "base", "max"))
        ends.append((total - 1, "initial_lr", "min_lr", "max", "max"))
    else:
        ends.append((total - 1, "max_lr", "min_lr", "base", "max"))
    return [
        {
            "end_step": end,
            "start_lr": start_lr,
            "end_lr": end_lr,
            "start_momentum": f"{start}_momentum",
            "end_momentum": f"{stop}_momentum",
        }
        for end, start_lr, end_lr, start, stop in ends
    ]
