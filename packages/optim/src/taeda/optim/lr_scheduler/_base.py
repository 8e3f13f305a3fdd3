"""What all schedules share: counting steps, setting rates, saving."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from taeda import Tensor
from taeda._core_api import warn

from ..optimizer import Optimizer

__all__ = ["LRScheduler", "Rate", "check_optimizer", "set_option", "state_of", "values_for_groups"]

Rate: TypeAlias = "float | Tensor"


class LRScheduler:
    """Sets the rates of an optimizer's groups; a subclass says in `get_lr` what they are.

    `get_lr` computes the next rates from the present ones, so that several schedules can act on one
    optimizer. Making a scheduler sets the rates of epoch 0, or with `last_epoch` those of the epoch
    after it; the rate that a group began with is kept as its option "initial_lr".

    Args:
        optimizer: the optimizer whose groups get their rates.
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    >>> class Halved(taeda.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / 2**self.last_epoch for base in self.base_lrs]
    >>> optimizer = taeda.optim.SGD([taeda.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = Halved(optimizer)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", _copied(group["lr"]))
        else:
            _check_resumable(optimizer)
        self.base_lrs: list[Any] = [
            _copied(group["initial_lr"]) for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the epoch to begin with."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All that changes, and the options; not the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the last step set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates for `last_epoch`, computed from the present ones. For subclasses."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch and set its rates. Call it after the optimizer's step.

        With `epoch` (deprecated) go to that epoch instead.
        """
        if self._step_count == 1:
            self._warn_if_first()
        self._step_count += 1
        if epoch is not None:
            warn_epoch()
        self._update_lr(epoch)

    def _warn_if_first(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warn(
                "`optimizer.step()` was replaced after the learning rate scheduler was made, so it "
                "is unknown whether it was called before `lr_scheduler.step()`, as it should be",
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`: the first rate "
                "of the schedule is skipped. Call `optimizer.step()` first.",
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form = getattr(self, "_get_closed_form_lr", None)
                rates = closed_form() if closed_form else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _set_rates(self, rates: Iterable[Any]) -> None:
        groups = self.optimizer.param_groups
        for group, rate in zip(groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._last_lr: list[Any] = [_copied(group["lr"]) for group in groups]

    # for subclasses

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "get_lr() is for step() to call; the rates in force are what `get_last_lr()` gives",
                UserWarning,
            )

    def _present(self) -> list[Any]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[Any]:
        """The present rates times a factor."""
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def check_optimizer(optimizer: Any) -> Optimizer:
    """`optimizer`, or TypeError if it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def _copied(rate: Rate) -> Rate:
    return rate.clone() if isinstance(rate, Tensor) else rate


def set_option(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; a tensor stays the same tensor, and is filled."""
    if isinstance(group.get(name), Tensor):
        group[name].fill_(value.reshape(()) if isinstance(value, Tensor) else value)
    else:
        group[name] = value


def values_for_groups(optimizer: Optimizer, values: Any, name: str) -> list[Any]:
    """One value for each group, out of one for all or a sequence of them."""
    count = len(optimizer.param_groups)
    if not isinstance(values, (list, tuple)):
        return [values] * count
    if len(values) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(values)} values, param_groups has {count}."
        )
    return [*values]


def state_of(functions: Iterable[Any]) -> list[Any]:
    """What of callables can be saved: attributes of objects; nothing (None) of functions."""
    return [
        None if isinstance(f, types.FunctionType) else dict(getattr(f, "__dict__", {}))
        for f in functions
    ]


def warn_epoch() -> None:
    """Say that `step(epoch)` is no longer wanted."""
    warn(
        "The epoch parameter in `scheduler.step()` is deprecated: call `scheduler.step()` without "
        "it. An epoch given is used in the closed form of the schedule, if it has one.",
        UserWarning,
    )


def _check_resumable(optimizer: Optimizer) -> None:
    for i, group in enumerate(optimizer.param_groups):
        if "initial_lr" not in group:
            raise KeyError(
                f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler "
                "with last_epoch >= 0: load the optimizer's state first, which holds it, or leave "
                "last_epoch out to begin anew"
            )


def _note_steps(optimizer: Optimizer) -> None:
    """From now on the optimizer's own `_opt_called` says whether it has stepped."""
    step: Callable[..., Any] = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    function = getattr(step, "__func__", None)
    if function is None:  # somebody put a plain function there, which holds what it needs
        function = lambda _, *args, **kwargs: step(*args, **kwargs)  # noqa: E731
    owner = weakref.ref(optimizer)  # an optimizer that holds itself would outlive its last name

    @functools.wraps(step)
    def noted(*args: Any, **kwargs: Any) -> Any:
        optimizer = owner()
        optimizer._opt_called = True  # type: ignore[union-attr]
        return function(optimizer, *args, **kwargs)

    noted._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = noted  # type: ignore[method-assign]
