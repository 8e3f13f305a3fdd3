"""A schedule of triangles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler, check_optimizer, set_option, state_of, values_for_groups
from ._momentum import check_momentum, set_momentum, start_momenta

__all__ = ["CyclicLR"]


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

    Args:
        optimizer: the optimizer whose groups get their rates.
        base_lr: the lowest rate, one or a list with one for each group.
        max_lr: the highest rate, one or a list with one for each group.
        step_size_up: steps on the way up (2000).
        step_size_down: steps on the way down (None: as many).
        mode: "triangular" (default), "triangular2" or "exp_range"; without effect if `scale_fn` is
            given.
        gamma: base of the height in "exp_range" (1).
        scale_fn: function of one number that gives the height (None: by `mode`).
        scale_mode: what `scale_fn` is given: "cycle" (default), the cycle counted from 1, or
            "iterations", the steps so far.
        cycle_momentum: whether momentum goes the other way (True); needs an optimizer that has one.
        base_momentum: the lowest momentum, one or a list (0.8).
        max_momentum: the highest momentum, one or a list (0.9).
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    arXiv:1506.01186.

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> CyclicLR(optimizer, base_lr=0.1, max_lr=1.0).get_last_lr()
    [0.1]
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
            self.use_beta1 = check_momentum(optimizer)
            self.base_momentums, self.max_momentums = start_momenta(
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
                set_momentum(group, high - (high - low) * height, self.use_beta1)
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
