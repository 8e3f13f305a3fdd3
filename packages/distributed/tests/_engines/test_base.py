"""What an engine promises: nothing it has not defined works by chance."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed import ReduceOp
from taeda.distributed._calls import Call
from taeda.distributed._engines.base import Engine, Message
from taeda.distributed._waiting import Deadline

X, CALL, LIMIT = taeda.ones(2), Call("x", "x()"), Deadline(1)
ARGUMENTS = {
    "arrive": (CALL, LIMIT), "reach": (CALL, LIMIT), "all_reduce": (X, ReduceOp.SUM, LIMIT),
    "reduce": (X, 0, ReduceOp.SUM, LIMIT), "broadcast": (X, 0, LIMIT), "all_gather": ([X], X, LIMIT),
    "gather": ([X], X, 0, LIMIT), "scatter": (X, [X], 0, LIMIT),
    "reduce_scatter": (X, X, ReduceOp.SUM, LIMIT), "all_to_all": ([X], [X], LIMIT),
    "send": (X, 0, 0, CALL), "receive": (X, None, 0, CALL), "all_gather_flat": (X, X, LIMIT),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_what_an_engine_does_not_define_it_refuses(name):
    with pytest.raises(NotImplementedError):
        getattr(Engine(0, 1), name)(*ARGUMENTS[name])


def test_what_engines_may_leave_out():
    engine = Engine(1, 3)
    assert (engine.rank, engine.size, engine.patient) == (1, 3, False)
    assert engine.allocate(8, LIMIT) is None
    for done in (engine.barrier(LIMIT), engine.finish(CALL), engine.give_up(ValueError())):
        assert done is None
    engine.close()
    assert Message().source == -1
    for call in (Message().ready, lambda: Message().wait(LIMIT)):
        with pytest.raises(NotImplementedError):
            call()


def test_a_flat_output_is_gathered_by_rows():
    class Rows(Engine):
        def all_gather(self, outputs, tensor, deadline):
            for number, output in enumerate(outputs):
                output.copy_(tensor * number)

    output = taeda.zeros(6)
    Rows(0, 3).all_gather_flat(output, X, LIMIT)
    assert output.tolist() == [0, 0, 1, 1, 2, 2]
