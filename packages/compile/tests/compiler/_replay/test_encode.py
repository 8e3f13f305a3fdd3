from __future__ import annotations

import taeda
from taeda.compiler._graph.passes import written_inputs
from taeda.compiler._graph.recorder import Recorder
from taeda.compiler._replay.encode import program


def recorded(f, *args):
    recorder = Recorder(lambda reason: None)
    for number, tensor in enumerate(args):
        recorder.add_input("argument", number, tensor)
    with recorder:
        made = f(*args)
        slot = recorder.slot_of(made)
    return recorder.finished(), recorder.numbered(slot)


def test_a_program_of_steps_runs_on_other_values():
    graph, out = recorded(lambda x, y: (x + y).sin(), taeda.ones(3), taeda.ones(3))
    x, y = taeda.randn(3), taeda.randn(3)
    made = program(graph, [0, 1], graph.steps, [out], fuse=False).run((x, y))
    assert made[0].equal((x + y).sin())


def test_inputs_that_are_written_through_views_as_well():
    def f(x, y):
        x[1:].mul_(2)
        return x + y

    graph, _ = recorded(f, taeda.ones(3), taeda.ones(3))
    assert written_inputs(graph, graph.steps) == [0]
