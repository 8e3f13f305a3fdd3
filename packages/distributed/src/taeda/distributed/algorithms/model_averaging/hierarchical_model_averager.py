"""Averaging over small groups often and over large ones seldom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..._setup import new_subgroups
from . import utils
from .averagers import ModelAverager

__all__ = ["HierarchicalModelAverager"]


class HierarchicalModelAverager(ModelAverager):
    """`period_group_size_dict` maps periods to sizes of groups, both ascending; the last size is
    that of the whole group.

    In a step that several periods divide the largest group counts. ValueError for anything else.

    >>> from taeda import distributed as dist, nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> averager = HierarchicalModelAverager({4: 1})  # of 8 ranks {2: 4, 4: 8}
    >>> model = nn.Linear(2, 1)
    >>> averager.average_parameters(model.parameters())
    >>> averager.step
    1
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        period_group_size_dict: Mapping[int, int] | None = None,
        warmup_steps: int = 0,
        process_group: Any = None,
    ) -> None:
        super().__init__(process_group)
        if not period_group_size_dict:
            raise ValueError("period_group_size_dict names at least one period")
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps is not negative, as {warmup_steps} is")
        periods, sizes = list(period_group_size_dict), list(period_group_size_dict.values())
        if periods[0] < 1 or periods != sorted(set(periods)) or sizes != sorted(set(sizes)):
            raise ValueError(f"periods and sizes both grow, but are {dict(period_group_size_dict)}")
        assert self.process_group is not None
        whole = self.process_group.size()
        if sizes[-1] != whole:
            raise ValueError(f"the last size is that of the whole group, {whole}, not {sizes[-1]}")
        self.warmup_steps, self._periods = warmup_steps, sorted(periods, reverse=True)
        self.period_process_group_dict: dict[int, Any] = {}
        for period, size in zip(periods, sizes, strict=True):
            group = (
                self.process_group if size == whole else new_subgroups(size, self.process_group)[0]
            )
            self.period_process_group_dict[period] = group

    def average_parameters(self, params: Iterable[Any]) -> None:
        if self.step >= self.warmup_steps:
            since = self.step - self.warmup_steps
            for period in self._periods:
                if since % period == 0:
                    group = self.period_process_group_dict[period]
                    utils.average_parameters_or_parameter_groups(params, group)
                    break
        self.step += 1
