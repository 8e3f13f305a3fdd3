"""Chunks are those of `chunk`, and placements say what they are."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed.tensor import Partial, Replicate, Shard
from taeda.distributed.tensor.placement_types import _StridedShard, chunk_of


def test_chunks_are_those_of_chunk():
    for size in range(9):
        for parts in range(1, 6):
            rows = [
                list(range(begin, begin + n))
                for begin, n in (chunk_of(size, parts, part) for part in range(parts))
            ]
            assert [number for row in rows for number in row] == list(range(size))
            wanted = [part.tolist() for part in taeda.arange(size).chunk(parts) if part.numel()]
            assert [row for row in rows if row] == wanted


def test_placements():
    assert Shard(1) == Shard(1) != Shard(0) and Shard(1).is_shard() and Shard(1).is_shard(1)
    assert not Shard(1).is_shard(0) and not Shard(0).is_replicate()
    assert Replicate() == Replicate() and Replicate().is_replicate() and not Replicate().is_shard()
    assert Partial().is_partial() and Partial("max").is_partial("max") and not Shard(0).is_partial()
    assert not Partial("max").is_partial("sum") and not Partial().is_replicate()
    assert [str(place) for place in (Shard(1), Replicate(), Partial("avg"))] == [
        "S(1)",
        "R",
        "P(avg)",
    ]


def test_sizes_and_places_of_parts():
    for size in range(9):
        for parts in range(1, 6):
            rows = [Shard.local_shard_size_and_offset(size, parts, rank) for rank in range(parts)]
            assert rows == [chunk_of(size, parts, rank)[::-1] for rank in range(parts)]


def test_strided_cuts_are_refused_in_words():
    assert not isinstance(Shard(0), _StridedShard)
    with pytest.raises(NotImplementedError, match="whole chunks here"):
        _StridedShard(dim=0, split_factor=2)
