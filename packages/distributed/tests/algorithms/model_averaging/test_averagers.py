"""When to average a model."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.model_averaging import averagers


@pytest.fixture
def fake():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    yield
    dist.destroy_process_group()


def test_every_period_after_the_warm_up(fake, monkeypatch):
    told = []
    monkeypatch.setattr(
        averagers.utils,
        "average_parameters_or_parameter_groups",
        lambda params, group: told.append((averager.step, params, group)),
    )
    averager = averagers.PeriodicModelAverager(period=3, warmup_steps=2)
    for _ in range(9):
        averager.average_parameters(["p"])
    assert [step for step, *_ in told] == [2, 5, 8] and averager.step == 9
    assert told[0][1:] == (["p"], dist.group.WORLD)


def test_refusals(fake):
    with pytest.raises(ValueError, match="period is at least 1, not 0"):
        averagers.PeriodicModelAverager(0)
    with pytest.raises(ValueError, match="warmup_steps is not negative"):
        averagers.PeriodicModelAverager(1, -1)
    with pytest.raises(TypeError, match="ProcessGroup"):
        averagers.PeriodicModelAverager(1, process_group=3)
    with pytest.raises(TypeError, match="abstract"):
        averagers.ModelAverager()


def test_parameters_without_a_gradient_stay(fake):
    p = taeda.nn.Parameter(taeda.full((2,), 3.0))
    averagers.PeriodicModelAverager(1).average_parameters([p])
    assert p.tolist() == [3, 3]
