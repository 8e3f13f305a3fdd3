"""Numbers that moved are explained by sizes, or the size that moved them is a number."""

from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental.proxy_tensor import make_fx


def graph_of(f, *args):
    return make_fx(f, tracing_mode="symbolic")(*args)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.mean(0) * x.shape[0] ** -0.5,
        lambda x: taeda.arange(x.shape[0] * 2)[x.shape[0] :],
        lambda x: x.view(-1, 2).sum(1),
        lambda x: x.repeat(1, x.shape[0]),
    ],
)
def test_what_follows_from_sizes_holds_at_any(f):
    module = graph_of(f, taeda.randn(4, 2))
    for rows in (2, 3, 9):
        x = taeda.randn(rows, 2)
        assert module(x).equal(f(x))


def test_what_follows_from_nothing_fixes_the_size():
    """A table that Python looks up: no formula gives its entries."""
    table = {4: 7, 5: 1, 6: 12}

    def f(x):
        return x.new_zeros(table.get(int(x.shape[0]), 3))

    module = graph_of(f, taeda.randn(4, 2))
    assert module(taeda.randn(4, 2)).shape == (7,)
    assert any("== 4" in str(guard) for guard in module.shape_env.guards)


def test_floats_that_the_program_computed_are_known():
    module = graph_of(lambda x: x * (x.shape[0] / 3 + 0.25), taeda.ones(4, 2))
    for rows in (2, 3, 11):
        x = taeda.ones(rows, 2)
        assert module(x).equal(x * (rows / 3 + 0.25))
