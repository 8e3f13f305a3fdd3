"""Samplers: the order in which a loader asks for samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import taeda
from taeda import Generator, Tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)

# indices drawn at once when sampling with replacement
_DRAW = 32


def check_positive(name: str, value: Any) -> None:
    """`value` is an int above 0 (and no bool)."""
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


class Sampler(Generic[T_co]):
    """An order of indices: a subclass defines `__iter__`, and `__len__` if it knows its length.

    >>> class Odd(Sampler):
    ...     def __iter__(self):
    ...         return iter([1, 3])
    >>> list(Odd())
    [1, 3]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__")


class SequentialSampler(Sampler[int]):
    """0, 1, 2 and so on, once.

    Args:
        data_source: anything with a length.

    >>> list(SequentialSampler(range(3)))
    [0, 1, 2]
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Random indices: without replacement shuffled ones, as many times over as `num_samples` needs.

    Without `generator` each iteration seeds a generator of its own from the global one.

    Args:
        data_source: anything with a length.
        replacement: whether an index may come twice (False).
        num_samples: how many indices come, at least 1 (None: the length).
        generator: where random numbers come from (None: the global stream).

    >>> sorted(RandomSampler(range(3)))
    [0, 1, 2]
    """

    data_source: Sized
    replacement: bool

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        check_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices one iteration gives; the length of the data unless given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def _chunks(self) -> Iterator[Tensor]:
        """The indices, as tensors one after another."""
        n, wanted = len(self.data_source), self.num_samples
        generator = self.generator or Generator().manual_seed(draw_seed())
        size = _DRAW if self.replacement else n
        for start in range(0, wanted, size):
            if self.replacement:
                chunk = taeda.randint(n, (size,), dtype=taeda.int64, generator=generator)
            else:
                chunk = taeda.randperm(n, generator=generator)
            yield chunk[: wanted - start]

    def __iter__(self) -> Iterator[int]:
        for chunk in self._chunks():
            yield from chunk.tolist()

    def __len__(self) -> int:
        return self.num_samples


def draw_seed(generator: Generator | None = None) -> int:
    """A seed drawn from `generator`, or from the global stream."""
    return int(taeda.empty((), dtype=taeda.int64).random_(generator=generator).item())


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order, without replacement.

    Args:
        indices: the indices.
        generator: where random numbers come from (None: the global stream).

    >>> sorted(SubsetRandomSampler([2, 5]))
    [2, 5]
    """

    indices: Sequence[int]

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in taeda.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """`num_samples` indices, each drawn with a probability proportional to its weight.

    Args:
        weights: weight of each index, at least 0, (N); they need not add up to 1.
        num_samples: how many indices come, at least 1.
        replacement: whether an index may come twice (True).
        generator: where random numbers come from (None: the global stream).

    >>> list(WeightedRandomSampler([0.0, 1.0], 2))
    [1, 1]
    """

    weights: Tensor

    def __init__(
        self,
        weights: Sequence[float] | Tensor,
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        check_positive("num_samples", num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        tensor = taeda.as_tensor(weights, dtype=taeda.float64)
        if tensor.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(tensor.shape)}"
            )
        self.weights = tensor
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = taeda.multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of `batch_size` indices of another sampler; the short rest is dropped if asked.

    Args:
        sampler: iterable of indices.
        batch_size: indices of a list, at least 1.
        drop_last: whether a last list that is not full is left out.

    >>> list(BatchSampler(range(3), 2, False))
    [[0, 1], [2]]
    """

    sampler: Sampler[int] | Iterable[int]

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        check_positive("batch_size", batch_size)
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := [*itertools.islice(indices, self.batch_size)]:
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        n, size = len(self.sampler), self.batch_size  # type: ignore[arg-type]
        return n // size if self.drop_last else (n + size - 1) // size
