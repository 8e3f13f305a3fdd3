"""Training with unequal numbers of inputs: who has run out keeps the others company."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import taeda
from taeda._core_api import warn

from .._collectives import all_reduce
from .._groups.work import Work
from .._types import ReduceOp

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a joinable does after this rank has run out of inputs: `main_hook` each step,
    `post_hook` at the end.

    >>> from taeda.distributed.algorithms import JoinHook
    >>> class Told(JoinHook):
    ...     def post_hook(self, is_last_joiner):
    ...         print("all ranks are done; among the last:", is_last_joiner)
    >>> Told().post_hook(True)
    all ranks are done; among the last: True
    """

    def main_hook(self) -> None:
        """Take part in the collectives of one step of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """All ranks have run out; `is_last_joiner` says whether this one was among the last."""


@dataclass
class _Config:
    """What the context told a joinable."""

    enable: bool = False
    throw: bool = False
    is_first: bool = True
    kwargs: dict[str, Any] = field(default_factory=dict)


class Joinable(ABC):
    """A class whose collectives can be shadowed. Its `__init__` must call this one's.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.algorithms import Joinable, JoinHook
    >>> class Counter(Joinable):
    ...     join_device = taeda.device("cpu")
    ...     join_process_group = None  # the default group
    ...     def __init__(self):
    ...         super().__init__()
    ...     def join_hook(self, **kwargs):
    ...         return JoinHook()
    >>> isinstance(Counter().join_hook(), JoinHook)
    True
    """

    @abstractmethod
    def __init__(self) -> None:
        self._join_config = _Config()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A hook for one context; the keywords are those of `Join`."""

    @property
    @abstractmethod
    def join_device(self) -> taeda.device:
        """Where its collectives run."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group of its collectives."""


class Join:
    """A context for training loops of unequal length over `joinables` of one group.

    The first joinable calls `Join.notify_join_context(self)` before its collectives of a step. With
    `throw_on_early_termination` all ranks raise RuntimeError as soon as one has run out. Other keywords go to
    every `join_hook`. ValueError for no joinables or several groups, TypeError for what is no Joinable.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.algorithms import Join
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1))
    >>> with Join([model]):
    ...     for batch in taeda.ones(3, 4, 2):  # another rank may have more or fewer
    ...         model(batch).sum().backward()
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("Join needs at least one joinable")
        for one in joinables:
            if not isinstance(one, Joinable):
                raise TypeError(f"Join takes Joinables, not {type(one).__name__}")
        groups = {id(one.join_process_group): one.join_process_group for one in joinables}
        if len(groups) > 1:
            raise ValueError("the joinables of one Join have the same process group")
        self._joinables, self._enable, self._throw = (
            list(joinables),
            enable,
            throw_on_early_termination,
        )
        (self._group,) = groups.values()
        self._hooks = [one.join_hook(**kwargs) for one in joinables] if enable else []
        for number, one in enumerate(joinables):
            one._join_config = _Config(enable, throw_on_early_termination, number == 0, kwargs)

    def __enter__(self) -> None:
        """The loop goes inside."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._enable or kind is not None:
            self._reset()
            return
        last, steps = True, 0
        for one in self._joinables:  # the hooks call what would tell of a step of this rank's own
            one._join_config = _Config(throw=self._throw)
        try:
            while (active := _count(self._group, 0)) > 0:
                if self._throw:
                    _raise_early()
                last = False
                steps += 1
                if steps == 1000:
                    warn("this rank has shadowed 1000 steps of the others")
                _active[id(self._group)] = active
                for hook in self._hooks:
                    hook.main_hook()
            for hook in self._hooks:
                hook.post_hook(last)
        finally:
            self._reset()

    def _reset(self) -> None:
        _active.pop(id(self._group), None)
        for one in self._joinables:
            one._join_config = _Config()

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell the ranks that have run out that a step begins here.
        Does something for the context's first joinable only.

        AssertionError for a joinable whose `__init__` did not call that of Joinable.
        """
        config = getattr(joinable, "_join_config", None)
        if config is None:
            raise AssertionError(
                f"{type(joinable).__name__}.__init__ did not call Joinable.__init__"
            )
        if not config.is_first or not config.enable:
            return None
        group = joinable.join_process_group
        active = _count(group, 1)
        _active[id(group)] = active
        if config.throw and active < group.size():
            _raise_early()
        work = Work("the count of ranks that still have inputs")
        work._finish()
        return work

    @staticmethod
    def active(group: Any) -> int:
        """How many ranks took part in the current step with inputs of their own."""
        return _active.get(id(group), group.size())

    @staticmethod
    def last_joiner(group: Any, is_last: bool) -> int:
        """The number of a rank that was among the last to run out; every rank calls it."""
        vote = taeda.tensor([group.rank() if is_last else -1], device=group.device)
        all_reduce(vote, ReduceOp.MAX, group)
        return int(vote)


_active: dict[int, int] = {}


def _count(group: Any, mine: int) -> int:
    total = taeda.tensor([mine], device=group.device)
    all_reduce(total, ReduceOp.SUM, group)
    return int(total)


def _raise_early() -> None:
    raise RuntimeError(
        "a rank has run out of inputs, and Join was told to end the training then "
        "(throw_on_early_termination=True)"
    )
