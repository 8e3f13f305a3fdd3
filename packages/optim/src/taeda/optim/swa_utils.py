"""Averages of a model's parameters over the steps of its training, and the rate schedule for it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import taeda
from taeda import Tensor

from .lr_scheduler._base import LRScheduler, check_optimizer, values_for_groups
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",  # noqa: F822 - made by __getattr__ below
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Tensor, Tensor, Any], Tensor]
MultiAverage = Callable[[list[Tensor], list[Tensor], Any], None]


# ---- how to average ----


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1].")


def _blendable(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def get_ema_multi_avg_fn(decay: float = 0.999) -> MultiAverage:
    """A function that updates lists of averages: average = decay * average + (1 - decay) * new.

    Args:
        decay: weight of the old average, in [0, 1] (0.999).

    >>> averages = [taeda.tensor([1.0])]
    >>> get_ema_multi_avg_fn(0.9)(averages, [taeda.tensor([2.0])], 1)
    >>> averages
    [tensor([1.1000])]
    """
    _check_decay(decay)

    def update(averages: list[Tensor], current: list[Tensor], _: Any) -> None:
        with taeda.no_grad():
            for average, value in zip(averages, current, strict=True):
                if _blendable(average):
                    average.lerp_(value, 1 - decay)
                else:
                    average.copy_(average * decay + value * (1 - decay))

    return update


def get_swa_multi_avg_fn() -> MultiAverage:
    """A function that updates lists of equal averages of all that was seen.

    >>> averages = [taeda.tensor([1.0])]
    >>> get_swa_multi_avg_fn()(averages, [taeda.tensor([2.0])], taeda.tensor(1))
    >>> averages
    [tensor([1.5000])]
    """

    def update(averages: list[Tensor], current: list[Tensor], seen: Any) -> None:
        with taeda.no_grad():
            for average, value in zip(averages, current, strict=True):
                if _blendable(average):
                    average.lerp_(value, 1 / (float(seen) + 1))
                else:
                    average.copy_(average + (value - average) / (float(seen) + 1))

    return update


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """As `get_ema_multi_avg_fn`, for one tensor, giving the new average.

    Args:
        decay: weight of the old average, in [0, 1] (0.999).

    >>> get_ema_avg_fn(0.9)(taeda.tensor(1.0), taeda.tensor(2.0), 1)
    tensor(1.1000)
    """
    _check_decay(decay)

    def average(mean: Tensor, current: Tensor, _: Any) -> Tensor:
        with taeda.no_grad():
            return decay * mean + (1 - decay) * current

    return average


def get_swa_avg_fn() -> Average:
    """As `get_swa_multi_avg_fn`, for one tensor, giving the new average.

    >>> get_swa_avg_fn()(taeda.tensor(1.0), taeda.tensor(2.0), 1)
    tensor(1.5000)
    """

    def average(mean: Tensor, current: Tensor, seen: Any) -> Tensor:
        with taeda.no_grad():
            return mean + (current - mean) / (seen + 1)

    return average


# ---- the averaged model ----


class _Averaging:
    """What an averaged model does; mixed with `nn.Module` when the first one is made."""

    n_averaged: Any

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: MultiAverage | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        count = taeda.tensor(0, dtype=taeda.long, device=device or "cpu")
        self.register_buffer("n_averaged", count)  # type: ignore[attr-defined]
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The output of the averaged model."""
        return self.module(*args, **kwargs)

    def _pairs(self, model: Any) -> tuple[list[Tensor], list[Tensor]]:
        def tensors(module: Any) -> Iterable[Tensor]:
            buffers = module.buffers() if self.use_buffers else ()
            return itertools.chain(module.parameters(), buffers)

        own = [t.detach() for t in tensors(self.module)]
        new = [t.detach() for t in tensors(model)]
        if len(own) != len(new):
            raise ValueError(
                f"the model has {len(new)} parameters and buffers, its average {len(own)}"
            )
        return own, [t.to(mine.device) for mine, t in zip(own, new, strict=True)]

    def update_parameters(self, model: Any) -> None:
        """Take the present parameters of `model` into the average; the first time, copy them."""
        own, new = self._pairs(model)
        if self.n_averaged == 0:
            for mine, value in zip(own, new, strict=True):
                mine.copy_(value)
        elif self.avg_fn is not None:
            seen = self.n_averaged
            for mine, value in zip(own, new, strict=True):
                mine.copy_(self.avg_fn(mine, value, seen.to(mine.device)))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(own, new, self.n_averaged)
        if not self.use_buffers:
            for mine, value in zip(self.module.buffers(), model.buffers(), strict=True):
                mine.detach().copy_(value.detach().to(mine.device))
        self.n_averaged += 1


def __getattr__(name: str) -> Any:
    # AveragedModel is an nn.Module, and nn is no dependency of this package: who has a model has it
    if name != "AveragedModel":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    members = {
        "__module__": __name__,
        "__qualname__": name,
        "__doc__": """A copy of `model` whose parameters are averages of what `update_parameters` saw.

    Equal averages, unless `avg_fn(average, new, count)` or `multi_avg_fn(averages, news, count)`
    says otherwise. Buffers are copied, or with `use_buffers` averaged too. `n_averaged` counts.

    Args:
        model: the module that is copied.
        device: where the copy lies (None: where the model lies).
        avg_fn: function from an average, a new value and the count so far to the new average
            (None); not with `multi_avg_fn`.
        multi_avg_fn: function that updates a list of averages in place, from a list of new values
            and the count so far (None: equal averages).
        use_buffers: whether buffers are averaged too (False).

    Izmailov and others (arXiv:1803.05407).

    >>> averaged = AveragedModel(taeda.nn.Linear(2, 1))
    >>> averaged.update_parameters(taeda.nn.Linear(2, 1))
    >>> averaged.n_averaged
    tensor(1)
    """,
    }
    made = type(name, (_Averaging, taeda.nn.Module), members)  # upward: see above
    globals()[name] = made
    return made


def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Compute the running statistics of batch norms anew, in one pass over `loader`.

    Batches are inputs, or lists and tuples that begin with the input.

    Args:
        loader: iterable of batches, each the input or a list or tuple that begins with it.
        model: the module whose batch norms are updated; it is left in the mode that it was in.
        device: where inputs are moved first (None: they stay).

    >>> model = taeda.nn.BatchNorm1d(1)
    >>> update_bn([taeda.ones(2, 1)], model)
    >>> model.running_mean
    tensor([1.])
    """
    momenta = {
        module: module.momentum
        for module in model.modules()
        if isinstance(module, taeda.nn.modules.batchnorm._BatchNorm)  # upward: a model is given
    }
    if not momenta:
        return
    was_training = model.training
    model.train()
    try:
        for module in momenta:
            module.reset_running_stats()
            module.momentum = None  # an equal average of all batches
        with taeda.no_grad():
            for batch in loader:
                given = batch[0] if isinstance(batch, (list, tuple)) else batch
                model(given if device is None else given.to(device))
    finally:
        for module, momentum in momenta.items():
            module.momentum = momentum
        model.train(was_training)


# ---- the schedule ----


def _cosine(share: float) -> float:
    return (1 - math.cos(math.pi * share)) / 2


def _linear(share: float) -> float:
    return share


_STRATEGIES = {"cos": _cosine, "linear": _linear}


class SWALR(LRScheduler):
    """From the present rate to `swa_lr` in `anneal_epochs`, then constant.

    Args:
        optimizer: the optimizer whose groups get their rates.
        swa_lr: the final rate, one or a list with one for each group.
        anneal_epochs: epochs on the way there, an int of at least 0 (10).
        anneal_strategy: shape of the way: "cos" (default) or "linear".
        last_epoch: epoch after which the schedule goes on; -1 begins anew (-1).

    Izmailov and others (arXiv:1803.05407).

    >>> optimizer = taeda.optim.SGD([taeda.zeros(1, requires_grad=True)], lr=1.0)
    >>> SWALR(optimizer, swa_lr=0.05, anneal_epochs=2).get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        rates = values_for_groups(optimizer, swa_lr, "swa_lr")
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in _STRATEGIES:
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How much of the way is gone at a step."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return _STRATEGIES[self._anneal_strategy](done)

    def get_lr(self) -> list[Any]:
        """The rates for the next step, from the present ones."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            goal, present = group["swa_lr"], group["lr"]
            first = goal if before == 1 else (present - before * goal) / (1 - before)
            rates.append(goal * now + first * (1 - now))
        return rates
