"""The kernel calls of a piece of program."""

from __future__ import annotations

import re
import threading

import taeda
from taeda.utils.op_trace import trace_ops


def test_names_and_shapes_in_order():
    a, b = taeda.ones(2, 3), taeda.ones(3)
    with trace_ops() as trace:
        (a + b).sum()
        taeda.cat([a, a])
        a.max(0)
    after = a + b
    assert after.shape == (2, 3)
    assert [call.op for call in trace.calls] == ["add.Tensor", "sum", "cat", "max.dim"]
    add, total, cat, largest = trace.calls
    assert (add.shapes[:2], add.result_shapes) == (((2, 3), (3,)), ((2, 3),))
    assert total.result_shapes == ((),) and cat.shapes == ((2, 3), (2, 3))
    assert largest.result_shapes == ((3,), (3,)) and all(call.seconds >= 0 for call in trace.calls)


def test_a_table_by_time():
    with trace_ops() as trace:
        for _ in range(3):
            taeda.ones(2).neg()
    head, *rows = repr(trace).splitlines()
    assert head.split() == ["operation", "calls", "ms", "share"]
    assert {row.split()[0]: row.split()[1] for row in rows} == {"ones": "3", "neg": "3"}
    shares = [float(re.search(r"([\d.]+)%", row)[1]) for row in rows]
    assert 99 < sum(shares) < 101 and shares == sorted(shares, reverse=True)
    assert trace_ops().table().count("\n") == 0


def test_other_threads_are_not_seen():
    with trace_ops() as trace:
        thread = threading.Thread(target=lambda: taeda.ones(2).neg())
        thread.start()
        thread.join()
    assert trace.calls == []
