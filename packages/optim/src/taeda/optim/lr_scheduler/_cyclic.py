"""Schedules that go up and down: cosines, triangles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, check_optimizer, set_option, state_of, values_for_groups

__all__ = ["CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


class CosineAnnealingLR(LRScheduler):
    """The rate on a cosine, from its initial value down to `eta_min` in `T_max` epochs, and back."""

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


# ---- momentum that goes against the rate ----


def _check_momentum(optimizer: Optimizer) -> bool:
    """Whether momentum is the first of "betas" there; ValueError if there is none at all."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled, and "
            f"{type(optimizer).__name__} has neither"
        )
    return "betas" in optimizer.defaults


def _set_momentum(group: dict[str, Any], value: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def _start_momenta(
    optimizer: Optimizer, base: Any, most: Any, last_epoch: int, use_beta1: bool
) -> tuple[list[float], list[float]]:
    bases = values_for_groups(optimizer, base, "base_momentum")
    mosts = values_for_groups(optimizer, most, "max_momentum")
    if last_epoch == -1:
        for group, low, high in zip(optimizer.param_groups, bases, mosts, strict=True):
            _set_momentum(group, high, use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low
    return bases, mosts


def _triangular(x: float, gamma: float) -> float:
    return 1.0


def _triangular2(x: float, gamma: float) -> float:
    return 1 / (2.0 ** (x - 1))


def _exp_range(x: float, gamma: float) -> float:
    return gamma**x


# how the height of a triangle shrinks, and whether by cycles or by steps
_MODES: dict[str, tuple[Callable[[float, float], float], str]] = {
    "triangular": (_triangular, "cycle"),
    "triangular2": (_triangular2, "cycle"),
    "exp_range": (_exp_range, "iterations"),
}


class CyclicLR(LRScheduler):
    """The rate between `base_lr` and `max_lr`, up and down in triangles, by Smith (2017).

    Up in `step_size_up` steps, down in `step_size_down` (as many unless given). The height stays
    ("triangular"), halves with each cycle ("triangular2"), is `gamma**step` ("exp_range"), or
    `scale_fn` says it, of the cycle or of the step (`scale_mode`). Momentum goes the other way,
    from `max_momentum` down to `base_momentum`, unless `cycle_momentum=False`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        bases = values_for_groups(optimizer, base_lr, "base_lr")
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, bases, strict=True):
                set_option(group, "lr", rate)
        self.max_lrs = values_for_groups(optimizer, max_lr, "max_lr")
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in _MODES and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: {mode!r}")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else _MODES[mode][1]
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = _check_momentum(optimizer)
            self.base_momentums, self.max_momentums = _start_momenta(
                optimizer, base_momentum, max_momentum, last_epoch, self.use_beta1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = bases

    def scale_fn(self, x: float) -> float:
        """The height of the triangle at cycle or step `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return _MODES[self.mode][0](x, self.gamma)

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`; sets the momenta too."""
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        if position <= self.step_ratio:
            height = position / self.step_ratio
        else:
            height = (position - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, bounds, strict=True):
                _set_momentum(group, high - (high - low) * height, self.use_beta1)
        rates = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in rates]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and what of `scale_fn` is code."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        kept = None if custom is None else state_of([custom])[0]
        return {**state, "_scale_fn_custom": kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state; `scale_fn` is the one given to the constructor."""
        rest = {key: value for key, value in state_dict.items() if key != "_scale_fn_custom"}
        super().load_state_dict(rest)
        attributes = state_dict["_scale_fn_custom"]
        if attributes is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(attributes)


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
            self.use_beta1 = _check_momentum(optimizer)
            _start_momenta(optimizer, base_momentum, max_momentum, last_epoch, self.use_beta1)
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
                _set_momentum(group, between(*ends, share), self.use_beta1)
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
