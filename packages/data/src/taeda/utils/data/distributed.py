"""Samplers for training in several processes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any, TypeVar

import taeda

from .sampler import Sampler

__all__ = ["DistributedSampler"]

T_co = TypeVar("T_co", covariant=True)


class DistributedSampler(Sampler[int]):
    """The share of one of `num_replicas` processes; all shares have the same length.

    To make them equal some indices come twice, or with `drop_last` the rest is left out. Every
    process shuffles by `seed + epoch`, so `set_epoch` must be called before each iteration, or all
    epochs have the same order.

    Args:
        dataset: anything with a length.
        num_replicas: number of processes (None: that of the process group).
        rank: number of this one, in [0, num_replicas) (None: that in the process group).
        shuffle: whether the order is random (True).
        seed: seed of the order, equal in all processes (0).
        drop_last: whether the rest is left out (False).

    >>> list(DistributedSampler(range(4), 2, 1, shuffle=False))
    [1, 3]
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = _process_group("num_replicas").get_world_size()
        if rank is None:
            rank = _process_group("rank").get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        n = len(self.dataset)
        if self.shuffle:
            generator = taeda.Generator().manual_seed(self.seed + self.epoch)
            indices = taeda.randperm(n, generator=generator).tolist()
        else:
            indices = list(range(n))
        if not self.drop_last and n:
            repeats = math.ceil(self.total_size / n)
            indices = indices * repeats
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the next iterations."""
        self.epoch = epoch


def _process_group(option: str) -> Any:
    distributed = getattr(taeda, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        raise ValueError(
            "Default process group has not been initialized, please make sure to call "
            f"init_process_group, or give {option}"
        )
    return distributed
