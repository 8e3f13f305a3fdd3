"""A pass over the data: its place in the epoch, and the kind that needs no workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from taeda._core_api import warn

from ..sampler import draw_seed
from . import seeds
from .fetch import MapFetcher, resumed_stream, stream_state, whole_batches
from .pin_memory import pin_memory, pins
from .place import Place, ordered
from .progress import bar

__all__ = ["Pass", "SinglePass"]

#: what a loader calls the kind of its data set, as DataLoader's `_DatasetKind.Iterable`
ITERABLE = 1


class OtherLoader:
    """A loader of a library that is no DataLoader, and has what PyTorch's passes read of one. What ours read
    beside that has its default.
    """

    batch_size = None
    progress = seed_batches = False
    watchdog = 60.0

    def __init__(self, loader: Any) -> None:
        self._other = loader
        self._streams = loader._dataset_kind == ITERABLE
        self._length_told = loader._IterableDataset_len_called

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)

    def _resumed(self) -> None:
        """It goes on from nowhere."""

    def _expected_length(self) -> int:
        return len(self._other)


class Pass(ABC):
    """What both kinds share: the place in the epoch, and what happens to each batch on its way out."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader = loader if hasattr(loader, "_streams") else OtherLoader(loader)
        self._finished = False
        # drawn even without workers, so that their number changes no random order
        self._place: Place = loader._resumed() or Place(draw_seed(loader.generator))
        self._open()

    def _open(self) -> None:
        loader = self._loader
        self._told: int | None = loader._length_told
        self._pins = pins(loader.pin_memory)
        self._bar = None
        if loader.progress:
            title = loader.progress if isinstance(loader.progress, str) else "batches"
            self._bar = bar(_length(loader), self._place.yielded, title)

    def __iter__(self) -> Iterator[Any]:
        return self

    @abstractmethod
    def __next__(self) -> Any:
        """The next batch."""

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    usable = False  # for another epoch

    def reset(self) -> None:
        """Begin another epoch, if the pass is usable for one."""
        raise RuntimeError("a pass without workers is made anew for each epoch")

    def state_dict(self) -> dict[str, Any] | None:
        """Where the pass stands; None once it is over."""
        return None if self._finished else self._place.state(self._loader)

    def _given(self, batch: Any) -> Any:
        """A batch leaves."""
        if self._told is not None and self._place.yielded > self._told:
            self._warn_longer(self._told)
        if self._bar is not None:
            self._bar.update()
        return pin_memory(batch) if self._pins else batch

    def _over(self) -> None:
        self._finished = True
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _warn_longer(self, told: int) -> None:
        warn(
            f"Length of IterableDataset {self._loader.dataset} was reported to be {told} "
            f"(when accessing len(dataloader)), but {self._place.yielded} samples have been fetched.",
        )


def _length(loader: Any) -> int | None:
    try:
        return loader._expected_length()
    except TypeError:  # a data set or a sampler without a length
        return None


class SinglePass(Pass):
    """In this process."""

    def _open(self) -> None:
        super()._open()
        self._draw = ordered(self._loader, self._place, self._begin).__next__
        self._fetch: Callable[[Any], Any]
        # The data set of a resumed pass goes to its place with the first batch: until then its own
        # state tells of another.
        self._stream: Any = None
        self._waits = self._place.order is not None or self._place.dataset is not None
        self._plain = not (self._pins or self._bar is not None or self._told is not None)

    def _begin(self) -> Iterator[Any]:
        self._fetch, entries, self._stream = _fetching(self._loader, self._place)
        self._waits = False
        return entries

    def __next__(self) -> Any:
        try:
            entry = self._draw()
        except StopIteration:
            self._over()
            raise
        # Counted first: an exception of the data set or of collate_fn is this batch's, and the next
        # call goes on behind it.
        self._place.yielded += 1
        try:
            batch = self._fetch(entry)
        except StopIteration:
            if self._loader._streams:
                self._place.yielded -= 1
                self._over()
            raise
        return batch if self._plain else self._given(batch)

    def _over(self) -> None:
        super()._over()
        self._draw = iter(()).__next__

    def state_dict(self) -> dict[str, Any] | None:
        """Where the pass stands; None once it is over."""
        if self._loader._streams and not self._waits:
            self._place.dataset = stream_state(self._loader.dataset, self._stream)
        return super().state_dict()


def _fetching(loader: Any, place: Place) -> tuple[Callable[[Any], Any], Iterator[Any], Any]:
    """What makes batches, and the entries it makes them of, from the first of the epoch on; and
    what reads the stream, if there is one.
    """
    stream: Any = None
    dataset, sampler, collate = loader.dataset, loader._index_sampler, loader.collate_fn
    skip, entries = place.yielded, iter(sampler)
    if loader._streams:
        facts = dataset, loader._auto_collation, collate, loader.drop_last
        skipped = skip * (loader.batch_size or 1)
        stream = resumed_stream(*facts, skipped, place.dataset)
        fetch: Callable[[Any], Any] = stream.fetch
    else:
        whole = None if loader.seed_batches else whole_batches(dataset, sampler, collate)
        if whole is not None:
            return *whole, None
        fetch = MapFetcher(dataset, loader._auto_collation, collate).fetch
    return _seeded(fetch, place, skip) if loader.seed_batches else fetch, entries, stream


def _seeded(fetch: Callable[[Any], Any], place: Place, number: int) -> Callable[[Any], Any]:
    """`fetch` with generators seeded for each batch, and afterwards as they were."""

    def seeded(index: Any) -> Any:
        nonlocal number
        with seeds.kept_streams():
            seeds.seed_batch(place.base_seed, place.epoch, number)
            number += 1
            return fetch(index)

    return seeded
