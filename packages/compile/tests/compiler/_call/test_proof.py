"""A graph beside its program: what differs is told, and the program's own result comes out."""

from __future__ import annotations

import pytest

import taeda
from taeda.compiler._call.proof import Differs, compared
from taeda.compiler._replay.trace import Trace, missed


def traced(program, *args):
    compiled = taeda.compile(program, backend="aot_eager")
    compiled(*args)
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    return trace


def prove(program, trace, *args, rehearse=Trace.rehearse):
    return compared(program, trace, list(args), args, {}, rehearse)


def doubled(x):
    return x * 2


def test_a_graph_that_gives_the_same_has_no_reason_against_it():
    x = taeda.ones(3)
    result, reason, place = prove(doubled, traced(doubled, x), x)
    assert (result.tolist(), reason, place) == ([2, 2, 2], "", -1)


@pytest.mark.parametrize("other", [lambda x: x * 3, lambda x: -(x * 2), lambda x: (x * 2).double()])
def test_other_bits_are_told_and_the_program_decides(other):
    x = taeda.ones(3)
    result, reason, place = prove(other, traced(doubled, x), x)
    assert result.equal(other(x))
    assert "other bits" in reason
    assert place == 0


def test_what_is_written_is_compared_and_written_once():
    def adds(x):
        return x.add_(1) * 1

    trace = traced(adds, taeda.zeros(2))
    x = taeda.zeros(2)
    assert prove(adds, trace, x)[1] == ""
    assert x.tolist() == [1, 1]
    assert "other bits" in prove(lambda x: x.add_(2) * 0.5, trace, x)[1]


def test_generators_are_compared_and_draw_once():
    def draws(x):
        return x + taeda.rand(2)

    x = taeda.zeros(2)
    trace = traced(draws, x)
    taeda.manual_seed(3)
    result, reason, _ = prove(draws, trace, x)
    taeda.manual_seed(3)
    assert reason == ""
    assert result.equal(taeda.rand(2))

    def draws_more(x):
        found = x + taeda.rand(2)
        taeda.rand(2)
        return found

    assert "other bits" in prove(draws_more, trace, x)[1]


def test_an_error_of_the_program_alone_is_a_difference():
    def fails(x):
        raise KeyError("of the program")

    x = taeda.ones(3)
    with pytest.raises(Differs) as caught:
        prove(fails, traced(doubled, x), x)
    assert isinstance(caught.value.raised, KeyError)


def test_an_error_of_the_graph_alone_is_a_reason():
    def fails(trace, tensors):
        raise KeyError("of the graph")

    x = taeda.ones(3)
    result, reason, _ = prove(doubled, traced(doubled, x), x, rehearse=fails)
    assert result.tolist() == [2, 2, 2]
    assert "of the graph" in reason


def test_a_graph_that_does_not_fit_runs_no_program():
    ran = []
    x = taeda.ones(3)
    found = prove(ran.append, traced(doubled, x), x, rehearse=lambda *_: missed)
    assert found[0] is missed
    assert ran == []
