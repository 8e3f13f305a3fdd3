"""Groups that have a backend for each type of device: "cpu:gloo,cuda:nccl"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import taeda

from .._calls import Call
from .._stores import PrefixStore, Store
from .._types import Backend
from .group import Action, ProcessGroup, make_engine
from .work import Work

__all__ = ["GroupByDevice", "backends_of", "carried_by", "make_group", "named"]


def carried_by(name: str) -> tuple[str, ...]:
    """The types of device whose tensors a backend can carry.

    >>> carried_by("gloo"), carried_by("fake")
    (('cpu',), ('cpu', 'cuda'))
    """
    if name in Backend._makers or name == Backend.FAKE:
        return ("cpu", "cuda")
    return ("cuda",) if name == Backend.NCCL else ("cpu",)


def backends_of(text: str) -> dict[str, Backend]:
    """The backend for each type of device, from "gloo" or "cpu:gloo,cuda:nccl". ValueError for text
    of another form, a device that comes twice, and one that the backend cannot carry.

    >>> backends_of("cpu:gloo,cuda:nccl")
    {'cpu': 'gloo', 'cuda': 'nccl'}
    """
    if not isinstance(text, str):
        raise ValueError(f"a backend is named by a str, not by {type(text).__name__}")
    if ":" not in text:
        name = Backend(text)
        return {carried_by(name)[0]: name}
    pairs = [part.strip().split(":") for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"backends by device are written 'cpu:gloo,cuda:nccl', not {text!r}")
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"{text!r} names two backends for one device")
    found = {device: Backend(name) for device, name in pairs}
    for device, name in found.items():
        if device not in carried_by(name):
            raise ValueError(
                f"{text!r}: the backend {str(name)!r} carries tensors of the "
                f"{' and '.join(carried_by(name))} only, not of {device!r}"
            )
    return found


def named(backends: Mapping[str, Backend]) -> str:
    """The backends as text, such as "cpu:gloo,cuda:nccl".

    >>> named({"cpu": Backend("gloo")})
    'cpu:gloo'
    """
    return ",".join(f"{device}:{name}" for device, name in backends.items())


def make_group(
    backends: Mapping[str, Backend],
    store: Store,
    rank: int,
    ranks: Sequence[int],
    timeout: timedelta,
    label: str,
    engine_name: str,
    description: str,
) -> ProcessGroup:
    """The group of `ranks` on this rank, with an engine for each type of device."""
    made = []
    for number, (device, name) in enumerate(backends.items()):
        # engines know nothing of each other
        apart = PrefixStore(device, store) if number else store
        suffix = f"/{device}" if number else ""
        engine = make_engine(name, apart, rank, ranks, timeout, engine_name + suffix, device)
        kind = GroupByDevice if not number and len(backends) > 1 else ProcessGroup
        made.append(kind(engine, ranks, name, timeout, label + suffix, description, store))
    first, *others = made
    if isinstance(first, GroupByDevice):
        first.others = dict(zip(list(backends)[1:], others, strict=True))
    return first


class GroupByDevice(ProcessGroup):
    """A group in which the device of a collective's tensors decides on the backend.

    The group itself is that of the backend that was named first, and `others` holds the rest by
    type of device. Each counts its collectives apart, so ranks need the same order only among
    collectives on one type of device. What has no tensors, such as `barrier`, goes by the first.
    """

    others: dict[str, ProcessGroup]

    def name(self) -> str:
        """The backends, as they were asked for."""
        return ",".join(f"{lane._engine.device_type}:{lane._backend}" for lane in self.lanes())

    @property
    def device_types(self) -> tuple[str, ...]:
        """The types of device whose tensors the group carries."""
        return tuple(lane._engine.device_type for lane in self.lanes())

    def lanes(self) -> list[ProcessGroup]:
        """The groups of one backend that it is made of."""
        return [self, *self.others.values()]

    def lane(self, device_type: str) -> ProcessGroup:
        """The group of one backend that carries tensors of the device."""
        return self.others.get(device_type, self)

    def run(
        self,
        call: Call,
        action: Action,
        *,
        async_op: bool = False,
        result: Any = None,
        timeout: timedelta | None = None,
        on: Sequence[taeda.Tensor] = (),
    ) -> Work | None:
        """As in every group, by the backend of the device of `on`."""
        lane = self.lane(on[0].device.type) if on else self
        begin = super().run if lane is self else lane.run
        return begin(call, action, async_op=async_op, result=result, timeout=timeout, on=on)

    def _break(self, error: BaseException) -> None:
        super()._break(error)
        for other in self.others.values():
            other._break(error)

    def _check_usable(self, call: Call) -> None:
        for other in self.others.values():  # one that broke breaks the whole group
            if other._broken is not None:
                super()._break(other._broken)
        super()._check_usable(call)

    def shutdown(self) -> None:
        """Stop all of them."""
        super().shutdown()
        for other in self.others.values():
            other.shutdown()
