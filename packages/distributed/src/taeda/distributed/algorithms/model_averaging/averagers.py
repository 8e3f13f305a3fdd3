"""When to average a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from ..._groups.world import the_group
from . import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Counts steps, and averages in some."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = the_group(process_group, type(self).__name__)
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """A step is over: average if it is time, and count."""


class PeriodicModelAverager(ModelAverager):
    """Averages every `period` steps after `warmup_steps`.
    ValueError for a period below 1 or a negative warm-up.
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
