"""When to average a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from ..._groups.world import the_group
from . import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Counts steps, and averages in some.

    >>> from taeda import distributed as dist
    >>> class Never(ModelAverager):
    ...     def average_parameters(self, params):
    ...         self.step += 1
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> averager = Never()
    >>> averager.average_parameters([])
    >>> averager.step
    1
    >>> dist.destroy_process_group()
    """

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = the_group(process_group, type(self).__name__)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """A step is over: average if it is time, and count."""


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps after `warmup_steps`.
    ValueError for a period below 1 or a negative warm-up.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model, averager = nn.Linear(2, 1), PeriodicModelAverager(period=4, warmup_steps=100)
    >>> for _ in range(3):  # after every step of the optimizer
    ...     averager.average_parameters(model.parameters())
    >>> averager.step
    3
    >>> dist.destroy_process_group()
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps is not negative, as {warmup_steps} is")
        if period < 1:
            raise ValueError(f"period is at least 1, not {period}")
        self.period, self.warmup_steps = period, warmup_steps

    def average_parameters(self, params: Iterable[Any]) -> None:
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1
