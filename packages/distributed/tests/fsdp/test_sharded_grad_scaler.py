"""All ranks leave out a step where one has an overflow, and the same numbers come out as on one process."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler


def stepped(gradients, rank=0):
    weight = taeda.nn.Parameter(taeda.ones(2))
    optimizer = taeda.optim.SGD([weight], lr=1.0)
    scaler = ShardedGradScaler("cpu", init_scale=4.0)
    scaler.scale(taeda.ones(()))
    if gradients[rank] is not None:
        weight.grad = taeda.tensor(gradients[rank])
    scaler.step(optimizer)
    scaler.update()
    return weight.tolist(), scaler.get_scale()


@pytest.mark.parametrize(
    ("gradients", "wanted"),
    [
        ([[4.0, 8.0], [4.0, 8.0]], ([0.0, -1.0], 4.0)),
        ([[4.0, float("inf")], [4.0, 8.0]], ([1.0, 1.0], 2.0)),
        ([[4.0, 8.0], [float("nan"), 8.0]], ([1.0, 1.0], 2.0)),
    ],
)
def test_ranks_agree(gradients, wanted):
    assert on_threads(2, lambda rank: stepped(gradients, rank)) == [wanted, wanted]


def test_rank_without_gradients_answers_too():
    left, right = on_threads(2, lambda rank: stepped([[4.0, float("inf")], None], rank))
    assert left == right == ([1.0, 1.0], 2.0)


def test_nothing_checked_is_an_error():
    with pytest.raises(AssertionError, match="No inf checks"):
        stepped([None])


def test_without_group_it_is_a_scaler():
    assert stepped([[4.0, 8.0]]) == ([0.0, -1.0], 4.0)


def test_order_of_arguments_is_that_of_sharded_scalers():
    scaler = ShardedGradScaler("cpu", 8.0, 0.25, 4.0, 10)
    assert (scaler.get_backoff_factor(), scaler.get_growth_factor()) == (0.25, 4.0)
    assert scaler.get_growth_interval() == 10
