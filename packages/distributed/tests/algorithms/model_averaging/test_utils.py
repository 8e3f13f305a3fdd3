"""Averages of parameters over a group."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging import utils


def parameters(rank):
    made = [
        taeda.nn.Parameter(taeda.full((2, 2), float(rank))),
        taeda.nn.Parameter(taeda.full((3,), 10.0 * rank, dtype=taeda.float64)),
        taeda.nn.Parameter(taeda.full((1,), float(rank))),
    ]
    for one in made[:2]:
        one.grad = taeda.zeros_like(one)
    return made


def test_those_with_a_gradient_become_their_means():
    def work(rank):
        a, b, c = parameters(rank)
        utils.average_parameters_or_parameter_groups([{"params": [a, c]}, b], None)
        return a.tolist(), b.tolist(), c.item()

    for rank, found in enumerate(on_threads(3, work)):
        assert found == ([[1, 1], [1, 1]], [10, 10, 10], rank)


def test_nothing_and_nobody():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        utils.average_parameters([])
        a, *_ = parameters(5)
        utils.average_parameters([a], dist.GroupMember.NON_GROUP_MEMBER)
        assert a[0, 0].item() == 5
    finally:
        dist.destroy_process_group()


def test_what_is_chosen():
    a, b, c = parameters(0)
    chosen = utils.get_params_to_average([a, {"params": [b, c]}])
    assert [id(one) for one in chosen] == [id(a), id(b)]
    with pytest.raises(NotImplementedError, match="tensors or dicts with 'params', not int"):
        utils.get_params_to_average([3])
