from __future__ import annotations

import taeda
from taeda import nn


def steps(f, *args):
    compiled = taeda.compile(f, backend="aot_eager")
    for _ in range(3):
        compiled(*args)
    found = [t for traces in compiled.__taeda_compiled__.traces.values() for t in traces]
    (trace,) = [t for t in found if t.trusted]
    return [step.op for step in trace.plan.steps]


def test_gradients_are_moved_and_aliases_are_gone():
    w = nn.Parameter(taeda.ones(4, 3))

    def step(x):
        w.grad = None
        loss = nn.functional.linear(x, w).relu().sum()
        loss.backward()

    ops = steps(step, taeda.randn(2, 3))
    assert "copy_" not in ops
    assert "detach" not in ops
    assert ops.count("as_strided") == 2  # the gradient of the sum, the transposed one


def test_what_nobody_reads_is_not_computed():
    def f(x):
        x.exp()
        return x + 1

    assert steps(f, taeda.ones(2)) == ["add.Tensor"]


def test_draws_and_writes_stay():
    def f(x):
        taeda.randn(3)
        x.add_(1)
        x[0].zero_()

    assert steps(f, taeda.ones(2, 2)) == ["randn", "add.Tensor", "select.int", "zero_"]


def test_an_alias_that_is_returned_is_an_object_of_its_own():
    def f(x):
        y = x + 1
        return y, y.detach()

    g = taeda.compile(f)
    for _ in range(4):
        a, b = g(taeda.ones(2))
        assert a is not b
        a.zero_()
        assert b.tolist() == [0, 0]
