from __future__ import annotations

import pytest

import taeda
from taeda import compiler


@pytest.fixture
def counted():
    counter = taeda._dynamo.testing.CompileCounter()
    yield taeda.compile(lambda x: x + 1, backend=counter), counter
    compiler.set_stance("default")


def test_force_eager_uses_no_graph(counted):
    f, counter = counted
    with compiler.set_stance("force_eager"):
        f(taeda.ones(1))
    assert counter.frame_count == 0
    f(taeda.ones(1))
    assert counter.frame_count == 1


def test_known_graphs_run_and_others_are_not_made(counted):
    f, counter = counted
    f(taeda.ones(1))
    with compiler.set_stance("eager_on_recompile"):
        assert f(taeda.ones(1)).item() == 2 and f(taeda.ones(2)).tolist() == [2.0, 2.0]
    assert counter.frame_count == 1
    with compiler.set_stance("fail_on_recompile"):
        assert f(taeda.ones(1)).item() == 2
        with pytest.raises(RuntimeError, match="has no graph for this call"):
            f(taeda.ones(2))
    f(taeda.ones(2))
    assert counter.frame_count == 2


def test_the_first_call_may_stay_eager(counted):
    f, counter = counted
    compiler.set_stance("eager_then_compile")
    f(taeda.ones(1))
    assert counter.frame_count == 0
    f(taeda.ones(1))
    assert counter.frame_count == 1


def test_as_a_decorator_it_acts_in_the_function_alone(counted):
    f, counter = counted

    @compiler.set_stance("force_eager")
    def run():
        return f(taeda.ones(1))

    run()
    assert counter.frame_count == 0
    f(taeda.ones(1))
    assert counter.frame_count == 1


def test_contexts_nest(counted):
    f, counter = counted
    with compiler.set_stance("force_eager"):
        with compiler.set_stance("default"):
            f(taeda.ones(1))
        f(taeda.ones(2))
    assert counter.frame_count == 1
    with pytest.raises(ValueError, match="one of default"):
        compiler.set_stance("lazy")
    f(taeda.ones(2))
    assert counter.frame_count == 2
