"""`ShapesCollection` and `AdditionalInputs`: demands from tensors and from further calls."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.export import AdditionalInputs, Dim, ShapesCollection, export


class Trees(nn.Module):
    def forward(self, x, others, scale=2):
        return x.sum(0) * scale + others["a"].sum(0) + others["b"][0].sum(0)


def call(n, m, scale=2):
    return taeda.ones(n, 3), {"a": taeda.ones(m, 3), "b": [taeda.ones(5, 3)]}, scale


def test_a_collection_is_the_demands_in_place():
    args = call(4, 6)
    n, m = Dim("n"), Dim("m", max=64)
    shapes = ShapesCollection()
    shapes[args[0]] = {0: n}
    shapes[args[1]["a"]][0] = m
    assert len(shapes) == 2
    wanted = {"x": {0: n}, "others": {"a": {0: m}, "b": [None]}, "scale": None}
    assert shapes.dynamic_shapes(Trees(), args) == wanted
    program = export(Trees(), args, dynamic_shapes=shapes).module()
    for sizes in ((4, 6), (9, 1), (2, 64)):
        assert taeda.equal(program(*call(*sizes)), Trees()(*call(*sizes)))
    with pytest.raises(AssertionError, match="Guard failed"):
        program(*call(4, 65))


def test_one_tensor_as_two_arguments():
    class Both(nn.Module):
        def forward(self, a, b):
            return a * 10 + b

    x = taeda.ones(4)
    shapes = ShapesCollection()
    shapes[x] = {0: Dim("n")}
    program = export(Both(), (x, x), dynamic_shapes=shapes).module()
    assert program(taeda.full((7,), 2.0), taeda.ones(7)).tolist() == [21.0] * 7


def test_what_a_collection_refuses():
    shapes = ShapesCollection()
    x = taeda.ones(4, 3)
    with pytest.raises(AssertionError, match="demands are for tensors, got list"):
        shapes[[1]] = {}
    shapes[x] = {0: Dim("n")}
    with pytest.raises(AssertionError, match="has the demand"):
        shapes[x] = {1: Dim("n")}
    with pytest.raises(ValueError, match="not among the arguments"):
        export(Trees(), call(4, 6), dynamic_shapes=shapes)


def test_sizes_that_differ_among_calls_vary():
    more = AdditionalInputs()
    more.add(call(8, 6))
    more.add(call(9, 6))
    program = export(Trees(), call(4, 6), dynamic_shapes=more).module()
    for n in (4, 8, 30):
        assert taeda.equal(program(*call(n, 6)), Trees()(*call(n, 6)))
    with pytest.raises(AssertionError, match="Guard failed"):
        program(*call(4, 7))


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (call(4, 6, 3), "one argument is 2 and 3"),
        ((taeda.ones(4), *call(4, 6)[1:]), "a tensor of 2 dimensions"),
        ((taeda.ones(4, 3), {"a": taeda.ones(2, 3)}, 2), "the arguments are"),
    ],
)
def test_calls_that_differ_in_more_than_sizes(other, said):
    more = AdditionalInputs()
    more.add(other)
    with pytest.raises(ValueError, match=said):
        export(Trees(), call(4, 6), dynamic_shapes=more)


def test_a_call_for_which_the_program_is_not_right():
    more = AdditionalInputs()
    more.add(call(8, 6))
    program = export(Trees(), call(4, 6))
    with pytest.raises(AssertionError, match="Guard failed"):
        more.verify(program)
    with pytest.raises(TypeError, match="args must be a tuple"):
        more.add([taeda.ones(3)])
