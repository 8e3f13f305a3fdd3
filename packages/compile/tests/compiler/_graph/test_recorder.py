"""What is recorded of a run: rates of optimizers as inputs."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def model():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


@pytest.mark.parametrize("kind", ["SGD", "Adam", "AdamW"])
def test_a_schedule_needs_no_other_graph(kind):
    def train(compiled):
        net = model()
        optimizer = getattr(taeda.optim, kind)(net.parameters(), lr=0.1)
        schedule = taeda.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)

        def step(x):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        run = taeda.compile(step) if compiled else step
        found = []
        for n in range(10):
            found.append(run(taeda.randn(8, 3, generator=taeda.Generator().manual_seed(n))).item())
            schedule.step()
        return found, run

    taeda.manual_seed(0)
    expected, _ = train(False)
    taeda.manual_seed(0)
    found, run = train(True)
    assert found == expected
    traces = [t for ts in run.__taeda_compiled__.traces.values() for t in ts]
    assert [t.trusted for t in traces] == [True]


def test_a_rate_that_is_computed_with_is_guarded():
    w = nn.Parameter(taeda.ones(3))
    optimizer = taeda.optim.SGD([w], lr=0.1, foreach=False)

    @taeda.compile
    def step():
        w.grad = taeda.ones(3)
        optimizer.step()

    for rate in (0.1, 0.1, 0.1, 0.5, 0.5, 0.5):
        optimizer.param_groups[0]["lr"] = rate
        before = w.detach().clone()
        step()
        taeda.testing.assert_close(before - w.detach(), taeda.full((3,), rate))
