"""Where a pass over the data stands, as values that can be saved, and how a later pass goes on from there.

The order of samples is not stored but made again: the states of all generators just before the
first index was drawn are kept, restored for as long as the sampler draws again what it had drawn,
and put back. So a state is small, however large the data, and a sampler that draws as it goes along
stands afterwards where it stood.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from taeda import Generator, Tensor
from taeda._core_api import warn

from . import seeds

__all__ = ["Lane", "Place", "beginning", "ordered", "restored"]

_VERSION = 1


class Lane:
    """The share of one worker in what has been given out."""

    def __init__(
        self,
        given: int = 0,
        ended: bool = False,
        streams: seeds.Streams | None = None,
        dataset: Any = None,
    ) -> None:
        self.given = given  # batches
        self.ended = ended  # an iterable data set that has no more
        self.streams = streams  # of the worker, after the last batch given
        self.dataset = dataset  # what the data set said of its own place then

    def count(self, streams: seeds.Streams | None, dataset: Any) -> None:
        """A batch was given out; what came with it."""
        self.given += 1
        self.streams = streams or self.streams
        self.dataset = dataset

    def to_plain(self) -> dict[str, Any]:
        """For a checkpoint."""
        streams = seeds.to_plain(self.streams)
        return {
            "given": self.given,
            "ended": self.ended,
            "streams": streams,
            "dataset": self.dataset,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Lane:
        """The opposite."""
        return cls(**{**plain, "streams": seeds.from_plain(plain["streams"])})


class Place:
    """A place in an epoch."""

    def __init__(self, base_seed: int, epoch: int = 0) -> None:
        self.base_seed = base_seed
        self.epoch = epoch
        self.yielded = 0  # batches, all from the first on
        self.ahead: list[int] = []  # numbers of batches that were given before their turn
        self.order: dict[str, Any] | None = None  # states before the first index was drawn
        self.drawn = 0  # entries that the sampler has given, ahead of the batches
        self.exhausted = False  # it has been asked for one more, and had none
        self.lanes: list[Lane] = []
        self.turn = 0  # the worker whose batch comes next
        self.dataset: Any = None  # without workers: the data set's own state

    def count(self, number: int, anonymous: bool) -> None:
        """Batch `number` was given out; the batches of a stream have none."""
        if anonymous or (number == self.yielded and not self.ahead):
            self.yielded += 1
            return
        self.ahead.append(number)
        while self.yielded in self.ahead:
            self.ahead.remove(self.yielded)
            self.yielded += 1

    def state(self, loader: Any) -> dict[str, Any]:
        """All of it, and where the loader's generators stand, as a dict of plain values and tensors."""
        return {
            **beginning(loader),
            "base_seed": self.base_seed,
            "epoch": self.epoch,
            "yielded": self.yielded,
            "ahead": sorted(self.ahead),
            "order": self.order,
            "drawn": self.drawn,
            "exhausted": self.exhausted,
            "lanes": [lane.to_plain() for lane in self.lanes],
            "turn": self.turn,
            "dataset": self.dataset,
        }


def beginning(loader: Any) -> dict[str, Any]:
    """The state of a loader between two epochs."""
    return {
        "version": _VERSION,
        "batch_size": loader.batch_size,
        "generators": _states(loader),
        "yielded": None,
    }


def restored(loader: Any, state: dict[str, Any]) -> Place | None:
    """The place that `state` stands for, and the loader's generators as they were; ValueError if it
    is not for this loader.
    """
    _check(loader, state)
    for generator, stood in zip(_generators(loader), state["generators"], strict=True):
        generator.set_state(stood)
    if state["yielded"] is None:
        return None
    lanes = [Lane.from_plain(lane) for lane in state["lanes"]]
    if len(lanes) != loader.num_workers:
        lanes = []  # the order does not depend on workers, their random numbers do
    place = Place(state["base_seed"], state["epoch"])
    place.lanes, place.ahead = lanes, list(state["ahead"])
    for fact in ("yielded", "order", "turn", "dataset"):
        setattr(place, fact, state[fact])
    place.drawn = state.get("drawn", place.yielded + 1)  # older states do not tell
    place.exhausted = state.get("exhausted", False)
    return place


def _check(loader: Any, state: dict[str, Any]) -> None:
    if not isinstance(state, dict) or state.get("version") != _VERSION:
        found = state.get("version") if isinstance(state, dict) else type(state).__name__
        raise ValueError(
            f"load_state_dict: wanted what DataLoader.state_dict() gave (version {_VERSION}), got "
            f"version {found}"
        )
    if state["batch_size"] != loader.batch_size:
        raise ValueError(
            f"load_state_dict: the state was taken with batch_size={state['batch_size']}, this loader has "
            f"batch_size={loader.batch_size}, so its batches are others"
        )
    if len(state["generators"]) != len(_generators(loader)):
        raise ValueError(
            f"load_state_dict: the state holds {len(state['generators'])} generators, this loader "
            "and its samplers "
            f"have {len(_generators(loader))}: construct it with the same generator and sampler"
        )
    if loader._streams and state["yielded"] and len(state["lanes"]) != loader.num_workers:
        raise ValueError(
            f"load_state_dict: an iterable data set was read by {len(state['lanes'])} workers, "
            "this loader has "
            f"num_workers={loader.num_workers}: every worker reads a stream of its own, so the "
            "number must be the same"
        )


def _samplers(loader: Any) -> Iterator[Any]:
    sampler = loader._index_sampler
    while sampler is not None:
        yield sampler
        sampler = getattr(sampler, "sampler", None)


def _generators(loader: Any) -> list[Generator]:
    """The loader's generator and those of its samplers, each once."""
    found = [loader.generator, *(getattr(s, "generator", None) for s in _samplers(loader))]
    return list({id(g): g for g in found if isinstance(g, Generator)}.values())


# ---- the order ----


def ordered(loader: Any, place: Place, begin: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    """The entries that `begin()` yields: a new order, or the one that `place` holds, without what
    was given already.

    A pass that is resumed draws as many again as had been drawn: the generators and the sampler
    stand where they stood.
    """
    if place.order is None:
        place.order = _order_state(loader)
        entries = begin()
    else:
        with _order_as_before(loader, place.order) as watch:
            entries = begin()
            ahead = [*_drawn_again(entries, place, watch)]
        watch.warn()
        yield from ahead
    for entry in entries:
        place.drawn += 1
        yield entry
    place.exhausted = True


def _drawn_again(entries: Iterator[Any], place: Place, watch: _Watch) -> Iterator[Any]:
    """Draw what had been drawn, and yield of it what was not given out."""
    for number, entry in enumerate(itertools.islice(entries, place.drawn)):
        if number == 0:
            watch.begin()
        if number >= place.yielded:
            yield entry
    if place.exhausted:
        yield from entries
    watch.end()


def _order_state(loader: Any) -> dict[str, Any]:
    return {
        "streams": seeds.to_plain(seeds.streams()),
        "generators": _states(loader),
        "samplers": [
            s.state_dict() if hasattr(s, "state_dict") else None for s in _samplers(loader)
        ],
    }


@contextmanager
def _order_as_before(loader: Any, order: dict[str, Any]) -> Iterator[_Watch]:
    now = _states(loader)
    try:
        with seeds.kept_streams():
            seeds.restore_streams(seeds.from_plain(order["streams"]) or {})
            _set_states(loader, order["generators"])
            for sampler, state in zip(_samplers(loader), order["samplers"], strict=True):
                if state is not None:
                    sampler.load_state_dict(state)
            yield _Watch(loader, now)
    finally:
        _set_states(loader, now)


class _Watch:
    """Looks whether what is drawn again can be what was drawn before.

    A sampler that draws everything with its first entry can be repeated, whoever uses its
    generators. One that draws as it goes along can only if nobody else does: then the generators
    end up as they were when the state was taken.
    """

    def __init__(self, loader: Any, wanted: list[Tensor]) -> None:
        self.loader = loader
        self.wanted = [state.tolist() for state in wanted]
        self.shared = False

    def begin(self) -> None:
        """The first entry has been drawn."""
        self.streams = seeds.streams()
        self.states = [state.tolist() for state in _states(self.loader)]

    def end(self) -> None:
        """The last has."""
        if hasattr(self, "streams"):
            own = zip(
                self.states, (s.tolist() for s in _states(self.loader)), self.wanted, strict=True
            )
            self.shared = seeds.streams() != self.streams or any(
                first != last != wanted for first, last, wanted in own
            )

    def warn(self) -> None:
        """Say so if it cannot."""
        if self.shared:
            warn(
                "DataLoader: the sampler draws in the middle of an epoch from a generator that the program "
                "uses, too, so its order may not go on as it would have: give it a generator of its own",
            )


def _states(loader: Any) -> list[Tensor]:
    return [generator.get_state() for generator in _generators(loader)]


def _set_states(loader: Any, states: list[Tensor]) -> None:
    for generator, state in zip(_generators(loader), states, strict=True):
        generator.set_state(state)
