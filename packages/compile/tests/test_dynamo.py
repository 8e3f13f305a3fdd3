from __future__ import annotations

import pytest

import taeda


def test_names_that_programs_call():
    taeda._dynamo.reset()
    said = taeda._dynamo.explain(lambda x: x + 1)(taeda.ones(2))
    assert said.graph_count == 1
    assert taeda._dynamo.explain(lambda x: x * x.item(), taeda.ones(())).graph_count == 0
    assert not taeda._dynamo.is_compiling()
    assert "taeda" in taeda._dynamo.list_backends()


def test_settings_for_a_while():
    config = taeda._dynamo.config
    with config.patch("recompile_limit", 3):
        assert config.cache_size_limit == 3
    with config.patch(
        {"suppress_errors": True},
    ):
        assert config.suppress_errors
    assert not config.suppress_errors and config.recompile_limit == 8
    with pytest.raises(ValueError, match="True or False"):
        config.suppress_errors = 1
    with pytest.raises(AttributeError, match="no 'verbose'"), config.patch(verbose=True):
        pass


def test_optimize_compiles():
    counter = taeda._dynamo.testing.CompileCounterWithBackend(lambda gm, inputs: gm)

    @taeda._dynamo.optimize(counter, nopython=True)
    def f(x):
        return x + 1

    assert f(taeda.zeros(1)).item() == 1
    assert counter.frame_count == 1 and len(counter.graphs) == 1
    counter.clear()
    assert (counter.frame_count, counter.graphs) == (0, [])
    with pytest.raises(taeda._dynamo.exc.Unsupported, match="a value is read"):
        taeda._dynamo.optimize_assert(counter)(lambda x: x * x.item())(taeda.ones(()))
    with pytest.raises(TypeError, match="built in"):
        taeda._dynamo.testing.CompileCounterWithBackend("inductor")


def test_a_break_that_is_asked_for():
    def f(x):
        y = x + 1
        taeda._dynamo.graph_break("here")
        return y

    assert taeda.compile(f)(taeda.zeros(1)).item() == 1
    assert "graph_break(): here" in taeda._dynamo.explain(f)(taeda.zeros(1)).break_reasons[0]
    with pytest.raises(taeda._dynamo.exc.Unsupported, match="graph_break"):
        taeda.compile(f, fullgraph=True)(taeda.zeros(1))
    taeda._dynamo.graph_break()


def test_marks_look_at_their_dimension():
    x = taeda.zeros(2, 3)
    taeda._dynamo.mark_dynamic(x, 0)
    taeda._dynamo.maybe_mark_dynamic(x, [0, -1])
    taeda._dynamo.mark_static(x)
    with pytest.raises(IndexError, match="dimension 2 of a tensor of 2"):
        taeda._dynamo.mark_dynamic(x, 2)
