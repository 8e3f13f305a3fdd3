"""The shares of several processes."""

from __future__ import annotations

import pytest

from taeda.utils.data import DistributedSampler


def shares(n, count, **options):
    return [list(DistributedSampler(range(n), count, rank, **options)) for rank in range(count)]


@pytest.mark.parametrize(("n", "count"), [(6, 2), (7, 3), (1, 4), (0, 2)])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shares_are_equally_long_and_hold_everything(n, count, shuffle):
    found = shares(n, count, shuffle=shuffle)
    assert {len(share) for share in found} == {-(-n // count)}
    assert {i for share in found for i in share} == set(range(n))


def test_the_rest_is_repeated_or_dropped():
    assert shares(5, 2, shuffle=False) == [[0, 2, 4], [1, 3, 0]]
    assert shares(5, 2, shuffle=False, drop_last=True) == [[0, 2], [1, 3]]
    assert shares(1, 3, shuffle=False) == [[0], [0], [0]]


def test_the_epoch_changes_the_order_of_all_alike():
    first = shares(50, 2, seed=3)
    assert shares(50, 2, seed=3) == first
    sampler = DistributedSampler(range(50), 2, 0, seed=2)
    sampler.set_epoch(1)
    assert list(sampler) == first[0]  # seed and epoch are added
    sampler.set_epoch(2)
    assert list(sampler) != first[0]


@pytest.mark.parametrize("rank", [2, -1])
def test_ranks_that_are_not_there(rank):
    with pytest.raises(ValueError, match=rf"rank {rank}, .* \[0, 1\]"):
        DistributedSampler(range(5), 2, rank)


def test_without_a_process_group_both_numbers_are_needed():
    with pytest.raises(ValueError, match="num_replicas"):
        DistributedSampler(range(5))
    with pytest.raises(ValueError, match="rank"):
        DistributedSampler(range(5), 2)
