from __future__ import annotations

import taeda
from taeda._higher_order_ops._nodes import map_op, scan_op, while_loop_op


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


def test_a_scan_and_a_map_with_what_their_function_reads():
    x, k = taeda.arange(3.0), taeda.tensor(2.0)
    last, every = scan_op(lambda c, v, k: (c + v, c * k), (taeda.tensor(0.0),), (x,), (k,))
    assert last.item() == 3 and every.tolist() == [0.0, 0.0, 2.0]
    assert map_op(lambda v, k: (v * k, v + k), (x,), (k,))[1].tolist() == [2.0, 3.0, 4.0]
