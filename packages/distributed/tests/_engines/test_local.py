"""The engine of one rank, and the fake one that pretends to have more."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed import DistTimeoutError, ReduceOp
from taeda.distributed._calls import Call
from taeda.distributed._engines.local import FakeEngine
from taeda.distributed._waiting import Deadline

LIMIT, CALL = Deadline(30), Call("recv", "recv()")


def test_values_stay():
    engine, x = FakeEngine(1, 3), taeda.arange(3.0)
    engine.arrive(CALL, LIMIT)
    assert engine.reach(CALL, LIMIT) == []
    engine.all_reduce(x, ReduceOp.SUM, LIMIT)
    engine.reduce(x, 0, ReduceOp.SUM, LIMIT)
    engine.broadcast(x, 2, LIMIT)
    assert x.tolist() == [0, 1, 2]


def test_others_have_the_values_of_this_one():
    engine, x = FakeEngine(1, 3), taeda.tensor([4.0, 5.0])
    outputs = [taeda.zeros(2), taeda.zeros(2, 1), taeda.zeros(3)]
    engine.gather(outputs, x, 0, LIMIT)
    assert [o.flatten().tolist() for o in outputs] == [[4, 5], [4, 5], [0, 0, 0]]
    flat = taeda.zeros(6)
    engine.all_gather_flat(flat, x, LIMIT)
    assert flat.tolist() == [4, 5] * 3


def test_parts_are_those_of_this_rank():
    engine = FakeEngine(1, 3)
    x = taeda.zeros(2)
    engine.scatter(x, [taeda.full((2,), float(n)) for n in range(3)], 1, LIMIT)
    assert x.tolist() == [1, 1]
    engine.scatter(x, [], 0, LIMIT)
    assert x.tolist() == [1, 1]
    engine.reduce_scatter(x, taeda.arange(6.0), ReduceOp.SUM, LIMIT)
    assert x.tolist() == [2, 3]
    outputs = [taeda.zeros(1), taeda.zeros(2)]
    engine.all_to_all(outputs, [taeda.ones(1), taeda.ones(3)], LIMIT)
    assert outputs[0].item() == 1 and outputs[1].tolist() == [0, 0]


def test_messages_to_oneself_come_in_order_by_tag():
    engine, got = FakeEngine(0, 1), taeda.zeros(1)
    for value, tag in ((1.0, 0), (2.0, 0), (3.0, 7)):
        sent = engine.send(taeda.tensor([value]), 0, tag, CALL)
        sent.wait(LIMIT)
        assert sent.ready()
    for tag, value in ((7, 3), (0, 1), (0, 2)):
        message = engine.receive(got, None, tag, CALL)
        message.wait(LIMIT)
        assert got.item() == value and message.source == 0
    with pytest.raises(DistTimeoutError, match="nothing was sent within"):
        engine.receive(got, 0, 0, CALL).wait(Deadline(0.01))


def test_from_a_rank_that_does_not_exist_comes_nothing_at_once():
    engine, got = FakeEngine(0, 2), taeda.full((1,), 9.0)
    assert engine.receive(got, 1, 0, CALL).ready() and got.item() == 9
    assert engine.send(got, 1, 0, CALL).ready()
