from __future__ import annotations

import math

import pytest

import taeda
from taeda import compiler


def graph(f, *args):
    said = compiler.explain(f)(*args)
    return said.graph_count, said.break_reasons


def test_a_function_that_is_allowed_is_not_looked_into():
    log = []

    def noted(x):
        log.append(1)
        return x + len(b"abc".hex())

    def f(x):
        return noted(x) * 2

    assert graph(f, taeda.ones(1))[0] == 0
    assert compiler.allow_in_graph(noted) is noted
    assert graph(f, taeda.ones(1)) == (1, [])
    before = len(log)
    compiled = taeda.compile(f, backend="aot_eager")
    for _ in range(4):
        assert compiled(taeda.ones(1)).item() == 14
    assert len(log) == before + 2
    with pytest.raises(TypeError, match="wanted a function, got int"):
        compiler.allow_in_graph([3])


def test_a_result_that_is_assumed_constant_is_kept():
    calls = []

    @compiler.assume_constant_result
    def table():
        calls.append(1)
        return taeda.arange(3.0) + 1

    compiled = taeda.compile(lambda x: x * table(), backend="aot_eager", fullgraph=True)
    for n in range(4):
        assert compiled(taeda.full((3,), n + 1.0)).tolist() == [n + 1, 2 * (n + 1), 3 * (n + 1)]
    assert len(calls) == 2


def test_a_substitute_is_recorded_in_place_of_what_is_not_known():
    import _bisect

    def f(x, values):
        return x + _bisect.bisect_left(values, 2.0)

    assert graph(f, taeda.ones(1), [1.0, 2.0])[0] == 0

    @compiler.substitute_in_graph(_bisect.bisect_left, skip_signature_check=True)
    def bisect_left(values, wanted):
        return sum(v < wanted for v in values)

    assert graph(f, taeda.ones(1), [1.0, 2.0]) == (1, [])
    compiled = taeda.compile(f, backend="aot_eager")
    for values in ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 1.5, 2.0]):
        assert compiled(taeda.ones(1), values).item() == 1 + _bisect.bisect_left(values, 2.0)


def test_parameters_of_a_substitute():
    with pytest.raises(TypeError, match="differ in their parameters"):

        @compiler.substitute_in_graph(math.hypot.__call__ and sorted)
        def other(a):
            return a

    with pytest.raises(TypeError, match="wanted a function, got str"):
        compiler.substitute_in_graph("sorted")


def test_a_step_may_be_marked():
    compiler.cudagraph_mark_step_begin()
