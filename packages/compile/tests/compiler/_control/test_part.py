from __future__ import annotations

import pytest

import taeda
from taeda.compiler._control import part
from taeda.compiler._control._part import generators_of
from taeda.compiler._errors import Refused
from taeda.compiler._graph.capture import Capture

OTHER = taeda.ones(2)


def around():
    recorder = Capture()
    recorder.active = True
    return recorder


def test_a_function_as_steps():
    x = taeda.ones(2)
    found = part(around(), lambda x, y: (x.sin() + y, x * 2), [x, taeda.ones(2)])
    assert found.count == 2 and [s.op for s in found.steps] == ["sin", "add.Tensor", "mul.Tensor"]
    again = part(around(), lambda x, y: (x.sin() + y, x * 2), [x, taeda.ones(2)])
    other = part(around(), lambda x, y: (x.sin() + y, x * 3), [x, taeda.ones(2)])
    assert found.said() == again.said() != other.said()


@pytest.mark.parametrize(
    ("f", "fact"),
    [
        (lambda x: (x * x.sum().item(),), "a value is read"),
        (lambda x: (x * OTHER,), "no operation made"),
    ],
)
def test_what_no_part_can_hold(f, fact):
    with pytest.raises(Refused, match=fact):
        part(around(), f, [taeda.ones(2)])


def test_shapes_that_depend_on_values_count_where_a_graph_is_exact():
    recorder = around()
    recorder.no_fixed_shape = lambda *a: "the shape depends on values"
    with pytest.raises(Refused, match="depends on values"):
        part(recorder, lambda x: (x.sin(),), [taeda.ones(2)])


def test_generators_of_inner_parts():
    pred, x = taeda.tensor(True), taeda.ones(2)
    f = lambda p, x: (taeda.cond(p, lambda x: x + taeda.rand(2), lambda x: x * 2, (x,)),)  # noqa: E731 - one expression
    found = part(around(), f, [pred, x])
    assert [s.op for s in found.steps] == ["cond"] and found.steps[0].draws
    assert list(generators_of(found.steps)) == [taeda.default_generator]
