from __future__ import annotations

import taeda
from taeda._higher_order_ops._nodes import while_loop_op


def held(i, x, limit):
    return (i < limit,)


def step(i, x, limit):
    return i + 1, x * 2


def test_the_loop_with_what_both_functions_read():
    i, x, limit = taeda.tensor(0), taeda.ones(2), taeda.tensor(3)
    found = while_loop_op(held, step, (i, x), (limit,))
    assert found[0].item() == 3 and found[1].tolist() == [8.0, 8.0]


def test_without_a_step_it_gives_clones():
    i, x, limit = taeda.tensor(5), taeda.ones(2), taeda.tensor(3)
    found = while_loop_op(held, step, (i, x), (limit,))
    assert found[1].equal(x) and found[1] is not x and found[1].data_ptr() != x.data_ptr()
