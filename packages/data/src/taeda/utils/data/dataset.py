"""Data sets: by index, by iteration, and combined out of others."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import taeda
from taeda import Generator, Tensor
from taeda._core_api import warn

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by index: a subclass defines `__getitem__`, and `__len__` for samplers that need it.

    It may define `__getitems__(indices)` to fetch a whole batch at once.

    >>> class Squares(Dataset):
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> Squares()[3]
    9
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(
            f"{type(self).__name__}: subclasses of Dataset should implement __getitem__"
        )

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples in the order of its own `__iter__`, for streams that have no indices.

    Python refuses to make an object of a subclass without `__iter__`. One that also has `state_dict()` and
    `load_state_dict(state)` is resumed by them; others are read again up to their place.

    >>> class Two(IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(Two())
    [1, 2]
    """

    def __add__(self, other: Dataset[T_co]) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors: sample `i` is the tuple of every tensor's entry `i` along dimension 0.

    Args:
        *tensors: tensors of one size of dimension 0.

    >>> TensorDataset(taeda.tensor([1, 2]), taeda.tensor([3, 4]))[1]
    (tensor(2), tensor(4))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        sizes = [tensor.size(0) for tensor in tensors]
        if any(size != sizes[0] for size in sizes):
            raise AssertionError(f"Size mismatch between tensors: first dimensions are {sizes}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Samples of several data sets side by side: tuples, or dicts if given by keyword.

    Args:
        *args, **kwargs: data sets of one length, all by position or all by keyword.

    >>> StackDataset(range(3), range(3, 6))[1]
    (1, 4)
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "StackDataset takes data sets either by position (samples are tuples) or by "
                "keyword (samples are dicts), but got both"
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        sizes = [len(dataset) for dataset in args or kwargs.values()]
        if any(size != sizes[0] for size in sizes):
            raise ValueError(f"Size mismatch between datasets: lengths are {sizes}")
        self._length = sizes[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        if isinstance(self.datasets, dict):
            columns = {k: _fetch_many(d, indices) for k, d in self.datasets.items()}
            return [{k: column[i] for k, column in columns.items()} for i in range(len(indices))]
        rows = [_fetch_many(dataset, indices) for dataset in self.datasets]
        return list(zip(*rows, strict=True))

    def __len__(self) -> int:
        return self._length


def _fetch_many(dataset: Any, indices: Sequence[Any]) -> Sequence[Any]:
    """The samples at `indices`, in one call if the data set offers that."""
    many = getattr(dataset, "__getitems__", None)
    if not callable(many):
        return [dataset[i] for i in indices]
    samples = many(indices)
    if len(samples) != len(indices):
        raise ValueError(
            f"{type(dataset).__name__}.__getitems__ returned {len(samples)} samples for "
            f"{len(indices)} indices"
        )
    return samples


class ConcatDataset(Dataset[T_co]):
    """Data sets one after another, by index.

    Args:
        datasets: data sets with a length, at least one.

    >>> ConcatDataset([range(3), range(5, 7)])[3]
    5
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        for i, dataset in enumerate(self.datasets):
            if isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ConcatDataset does not support IterableDataset, got one at {i}: "
                    "ChainDataset takes those"
                )
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each data set ends."""
        return list(itertools.accumulate(len(entry) for entry in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError(
                    f"absolute value of index should not exceed dataset length: {idx} in a data "
                    f"set of {len(self)} samples"
                )
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        if which == len(self.datasets):
            raise IndexError(f"index {idx} is out of range for {len(self)} samples")
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - start]


class ChainDataset(IterableDataset[Any]):
    """Iterable data sets one after another.

    Args:
        datasets: iterable data sets, in order.

    >>> class Two(IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(ChainDataset([Two(), Two()]))
    [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset only supports IterableDataset, got {type(dataset).__name__}"
                )
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset[T_co]):
    """The samples of `dataset` at `indices`, in that order.

    Args:
        dataset: a data set by index.
        indices: the indices that belong to it.

    >>> Subset(range(10), [2, 4])[1]
    4
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, idx: Any) -> T_co:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[T_co]:
        return _fetch_many(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Cut a data set into random parts without overlap.

    `lengths` are the numbers of samples, which add up to the data set's; or fractions that add
    up to 1, each rounded down, with the samples left over given to the parts in turn.

    Args:
        dataset: a data set with a length.
        lengths: sizes of the parts, or fractions of the whole.
        generator: where random numbers come from (None: the global stream).

    >>> [len(part) for part in random_split(range(10), [3, 7])]
    [3, 7]
    """
    sizes = list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        sizes = _sizes_of(sizes, len(dataset))
        for i in (i for i, size in enumerate(sizes) if not size):
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    if sum(sizes) != len(dataset):
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset: "
            f"{sum(sizes)} and {len(dataset)}"
        )
    order = taeda.randperm(int(sum(sizes)), generator=generator).tolist()
    ends = itertools.accumulate(map(int, sizes))
    return [
        Subset(dataset, order[end - int(size) : end]) for end, size in zip(ends, sizes, strict=True)
    ]


def _sizes_of(fractions: Sequence[float], total: int) -> list[int | float]:
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1: {fraction}")
    sizes: list[int | float] = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - int(sum(sizes))):
        sizes[i % len(sizes)] += 1
    return sizes
