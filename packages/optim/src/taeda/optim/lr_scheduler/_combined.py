"""Schedules made of others: all at once, or one after another."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ..optimizer import Optimizer
from ._base import LRScheduler
from ._plateau import ReduceLROnPlateau

__all__ = ["ChainedScheduler", "SequentialLR"]


class _Combined(LRScheduler):
    """Holds schedulers of one optimizer, and saves them with itself."""

    _schedulers: list[LRScheduler]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> Optimizer:
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires "
                    "additional kwargs to be specified when calling `step`, but got one at index "
                    f"{i} in the given schedulers sequence."
                )
            if optimizer is None:
                optimizer = scheduler.optimizer
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got "
                    f"scheduler {type(scheduler).__name__} at index {i} has {scheduler.optimizer}, "
                    f"which is different from {type(optimizer).__name__}."
                )
        return optimizer

    def _initial_step(self) -> None:
        """Set the rates to begin with; inside another schedule that is asked a second time."""
        for scheduler in self._first():
            scheduler._initial_step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin anew, in the turn that another schedule gives: `epoch` is 0."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self._rewind()
        self._initial_step()

    def _rewind(self) -> None:
        for scheduler in self._schedulers:
            if isinstance(scheduler, _Combined):
                scheduler._rewind()
            else:
                scheduler.last_epoch = -1

    def _first(self) -> Sequence[Any]:
        """The schedulers that set the rates of epoch 0."""
        return self._schedulers

    def state_dict(self) -> dict[str, Any]:
        """The states of the schedulers, beside everything but the optimizer."""
        state = super().state_dict()
        state.pop("_schedulers")
        return {**state, "_schedulers": [s.state_dict() for s in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a saved state, with the same schedulers."""
        super().load_state_dict({k: v for k, v in state_dict.items() if k != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(_Combined):
    """Steps several schedulers, in order; each changes the rates that the one before it left.

    Args:
        schedulers: at least one scheduler, all of one optimizer; `ReduceLROnPlateau` is refused.
        optimizer: that optimizer (None: the first scheduler's).

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> first = taeda.optim.lr_scheduler.ConstantLR(optimizer, 0.5, total_iters=2)
    >>> second = taeda.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    >>> ChainedScheduler([first, second]).get_last_lr()
    [0.5]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError(
                "ChainedScheduler expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        self.optimizer = self._check(schedulers, optimizer)
        self._schedulers = [*schedulers]
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def step(self) -> None:  # type: ignore[override]
        """Step every scheduler."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


class SequentialLR(_Combined):
    """One scheduler after another: `milestones` are the epochs at which the next one takes over.

    Each begins at its own epoch 0.

    Args:
        optimizer: the optimizer whose groups get their rates.
        schedulers: at least one scheduler of that optimizer; `ReduceLROnPlateau` is refused.
        milestones: rising epochs, one fewer than schedulers.
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> first = taeda.optim.lr_scheduler.ConstantLR(optimizer, 0.5, total_iters=2)
    >>> second = taeda.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    >>> SequentialLR(optimizer, [first, second], milestones=[2]).get_last_lr()
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[LRScheduler],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        for group in optimizer.param_groups:  # every scheduler has set its own first rate
            group["lr"] = group["initial_lr"]
        self.recursive_undo()
        self._initial_step()

    def _first(self) -> Sequence[Any]:
        return self._schedulers[:1]

    def _rewind(self) -> None:
        super()._rewind()
        self.last_epoch = 0

    def recursive_undo(self, sched: LRScheduler | None = None) -> None:
        """Take the last step back from the count of every scheduler, also of those inside others."""
        inner = getattr(sched or self, "_schedulers", None)
        if inner is not None:
            for scheduler in inner:
                self.recursive_undo(scheduler)
        elif sched is not None:
            sched.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Step the scheduler whose turn it is."""
        self.last_epoch += 1
        turn = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[turn]
        if turn > 0 and self._milestones[turn - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()
