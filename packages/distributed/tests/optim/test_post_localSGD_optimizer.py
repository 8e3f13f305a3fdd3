"""Local steps, and averages of the model now and then."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from taeda.distributed.optim import PostLocalSGDOptimizer


def wrapped(p, **options):
    plain = taeda.optim.SGD([p], lr=1.0, **options)
    return PostLocalSGDOptimizer(plain, PeriodicModelAverager(2, warmup_steps=1))


def test_steps_are_local_and_means_come_by_the_period():
    def work(rank):
        p = taeda.nn.Parameter(taeda.zeros(1))
        optimizer, found = wrapped(p), []
        for _ in range(4):
            optimizer.zero_grad()
            p.grad = taeda.full((1,), -float(rank))
            optimizer.step()
            found.append(p.item())
        return found, optimizer.state_dict()["step"]

    zero, one, two = (found for found, _ in on_threads(3, work))
    assert zero == [0, 2, 2, 4] and one == [1, 2, 3, 4] and two == [2, 2, 4, 4]


@pytest.fixture
def fake():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    yield
    dist.destroy_process_group()


def test_the_state_has_the_count(fake):
    p = taeda.nn.Parameter(taeda.zeros(2))
    optimizer = wrapped(p, momentum=0.5)
    p.grad = taeda.ones(2)
    assert optimizer.step(lambda: 7.0) == 7.0
    state = optimizer.state_dict()
    assert state["step"] == 1 and set(state) == {"state", "param_groups", "step"}
    other = wrapped(p, momentum=0.5)
    other.load_state_dict(state)
    assert other.averager.step == 1 and other.state[p]["momentum_buffer"].tolist() == [1, 1]
    with pytest.warns(UserWarning, match="averaging counts from 0"):
        other.load_state_dict({k: v for k, v in state.items() if k != "step"})
    assert other.averager.step == 0


def test_what_is_the_wrapped_ones(fake):
    p = taeda.nn.Parameter(taeda.zeros(2))
    optimizer = wrapped(p)
    assert repr(optimizer) == repr(optimizer.optim)
    optimizer.add_param_group({"params": [taeda.nn.Parameter(taeda.zeros(1))], "lr": 5.0})
    assert [group["lr"] for group in optimizer.param_groups] == [1.0, 5.0]
    p.grad = taeda.ones(2)
    optimizer.zero_grad()
    assert p.grad is None and optimizer.state == {}
