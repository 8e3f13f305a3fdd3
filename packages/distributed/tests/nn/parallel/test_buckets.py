"""Which gradients travel together, and where they lie."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
import taeda.distributed as dist
from taeda.nn.parallel import _buckets

KINDS = [taeda.float32, taeda.float64]
PARAMS = st.lists(st.tuples(st.integers(0, 9), st.sampled_from(KINDS)), max_size=12)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(PARAMS, st.integers(1, 60), st.integers(1, 120), st.booleans())
def test_buckets_are_of_one_dtype_in_order_and_as_large_as_allowed(sizes, first, rest, backwards):
    params = [taeda.zeros(n, dtype=dtype) for n, dtype in sizes]
    order = list(range(len(params)))[:: -1 if backwards else 1]
    lists = _buckets.assign(params, order, first, rest)
    assert sorted(number for numbers in lists for number in numbers) == sorted(order)
    place = {number: at for at, number in enumerate(order)}
    seen = set()
    for numbers in lists:
        (dtype,) = {params[n].dtype for n in numbers}
        assert [place[n] for n in numbers] == sorted(place[n] for n in numbers)
        nbytes = sum(params[n].numel() * params[n].element_size() for n in numbers)
        limit = rest if dtype in seen else first
        assert (
            nbytes <= limit or not sum(params[n].numel() for n in numbers[:-1]) or len(numbers) == 1
        )
        seen.add(dtype)


@pytest.fixture
def group():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_views_lie_one_after_the_other_in_buffers_apart(group):
    params = [taeda.zeros(2, 3), taeda.zeros(4), taeda.zeros(5, dtype=taeda.float64)]
    one, two = _buckets.build(group, params, [[1, 0], [2]])
    assert one.lengths == [4, 6] and [tuple(v.shape) for v in one.views] == [(4,), (2, 3)]
    one.buffer.copy_(taeda.arange(10.0))
    assert one.views[0].tolist() == [0, 1, 2, 3] and one.views[1][1].tolist() == [7, 8, 9]
    assert two.buffer.dtype is taeda.float64 and two.buffer.tolist() == [0] * 5
    assert (two.buffer.data_ptr() - one.buffer.data_ptr()) % _buckets.ALIGN == 0
    assert one.waiting == set() and one.work is None
