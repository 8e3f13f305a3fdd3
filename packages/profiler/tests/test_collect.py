import threading

import pytest

import taeda
from taeda.profiler import record_function
from taeda.profiler._collect import Collector
from taeda.profiler._settings import Settings


class Ticks:
    """A clock that moves by 1 at each reading."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return self.now


def collected(program, **settings):
    collector = Collector(Settings(**settings), Ticks())
    collector.start()
    try:
        program()
    finally:
        collector.stop()
    return collector.ranges


def test_operations_stand_within_the_ranges_that_ran_them():
    def program():
        with record_function("outer"), record_function("inner"):
            taeda.ones(2).exp()
        taeda.zeros(1)

    outer, inner, *ops, zeros = collected(program)
    assert [r.name for r in (outer, inner, *ops, zeros)] == [
        "outer", "inner", "aten::ones", "aten::exp", "aten::zeros",
    ]  # fmt: skip
    assert outer.children == [inner] and inner.children == ops and zeros.parent is None
    assert outer.start < inner.start < ops[0].start < ops[0].end < inner.end < outer.end


def test_shapes_are_those_of_the_arguments():
    found = collected(lambda: taeda.cat([taeda.ones(2, 3), taeda.ones(1, 3)]), shapes=True)
    assert found[-1].shapes[0] == [[2, 3], [1, 3]]


def test_memory_is_what_was_taken_minus_what_was_given_back():
    kept = []
    range_, *_ = collected(
        lambda: _within("all", lambda: kept.append(taeda.zeros(1000))), memory=True
    )
    assert range_.memory == 4000
    given, *_ = collected(lambda: _within("all", kept.clear), memory=True)
    assert given.memory == -4000


def _within(name, program):
    with record_function(name):
        program()


def test_stacks_lead_to_the_program_and_not_to_the_profiler():
    (found,) = collected(lambda: taeda.ones(1), stack=True)
    assert __file__ in found.stack[0] and "<lambda>" in found.stack[0]


def test_an_exception_ends_what_it_leaves():
    def program():
        with record_function("fails"):
            taeda.ones(2) @ taeda.ones(3)

    collector = Collector(Settings(), Ticks())
    collector.start()
    with pytest.raises(RuntimeError):
        program()
    collector.stop()
    assert collector.ranges[0].name == "fails" and all(r.end > r.start for r in collector.ranges)


def test_a_range_that_is_open_at_the_end_ends_there():
    name = record_function("open")
    (found,) = collected(name.__enter__)
    name.__exit__(None, None, None)  # its profile is over: nothing happens
    assert found.end > found.start


def test_other_threads_are_not_seen():
    def program():
        thread = threading.Thread(target=lambda: _within("there", lambda: taeda.ones(1)))
        thread.start()
        thread.join()

    assert collected(program) == []


def test_ranges_are_nothing_without_a_profile():
    with record_function("x") as range_:
        assert range_._entered == []

    @record_function("y")
    def function(value):
        return value + 1

    assert function(1) == 2
    (found,) = collected(lambda: function(1))
    assert found.name == "y"


def test_profiles_do_not_nest():
    def program():
        with pytest.raises(RuntimeError, match="profiled already"):
            Collector(Settings()).start()

    collected(program)
    assert len(collected(lambda: taeda.ones(1))) == 1  # and the refused one has left nothing


def test_optimizer_steps_and_modules_are_named():
    nn = pytest.importorskip("taeda.nn", reason="the modules are those of taeda-nn")
    pytest.importorskip("taeda.optim", reason="the optimizers are those of taeda-optim")
    model = nn.Sequential(nn.Linear(2, 1))
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)

    def program():
        model(taeda.ones(1, 2)).sum().backward()
        optimizer.step()

    names = [r.name for r in collected(program, modules=True)]
    assert names[1:4] == ["nn.Module: Sequential", "nn.Module: Linear", "aten::linear"]
    assert "Optimizer.step#SGD.step" in names
    assert not any("nn.Module" in r.name for r in collected(program))


def test_a_compiled_function_runs_as_its_graph_under_a_profile():
    """A profile changes no program: fullgraph=True holds, and the graph is one range."""
    compiler = pytest.importorskip("taeda.compiler", reason="graphs come with taeda-compile")
    assert compiler is not None
    twice = taeda.compile(lambda a: (a * 2 + 1).sum(), fullgraph=True)
    x = taeda.ones(8)

    def program():
        for _ in range(4):
            assert twice(x).item() == 24

    names = [one.name for one in collected(program)]
    assert len(names) == 4 and all(name.startswith("CompiledFunction: ") for name in names)
