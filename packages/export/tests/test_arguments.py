"""Arguments of a call by the names of `forward`."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, export
from taeda.export._arguments import bound_arguments

AUTO = Dim.AUTO


class Model(nn.Module):
    def forward(self, x, *more, scale=1, **rest):
        return x


def test_names_in_the_order_of_the_leaves():
    made = bound_arguments(Model(), (1, 2, 3), {"scale": 4, "other": 5})
    assert [*made.items()] == [("x", 1), ("more_0", 2), ("more_1", 3), ("scale", 4), ("other", 5)]
    assert [*bound_arguments(Model(), (), {"other": 5, "x": 1})] == ["other", "x"]


def test_a_call_that_forward_does_not_take_is_refused():
    with pytest.raises(UserError, match="forward of Model: missing a required argument: 'x'"):
        bound_arguments(Model(), (), {})


class Several(nn.Module):
    def forward(self, x, *rest, **named):
        return x.shape[0] + sum(t.shape[0] for t in (*rest, *named.values())) * taeda.ones(())


@pytest.mark.parametrize(
    "shapes",
    [
        ({0: AUTO}, ({0: AUTO}, None), {"z": {0: AUTO}}),
        ({0: AUTO}, {0: AUTO}, None, {0: AUTO}),
        {"x": {0: AUTO}, "rest": ({0: AUTO}, None), "named": {"z": {0: AUTO}}},
        {"x": {0: AUTO}, "rest_0": {0: AUTO}, "z": {0: AUTO}},
        ({0: AUTO}, ((AUTO,), None), {"z": (AUTO,)}),
    ],
)
def test_demands_of_several_arguments_as_one_or_apart(shapes):
    x, y, z = (taeda.ones(n) for n in (3, 4, 5))
    made = export(Several(), (x, y, y), {"z": z}, dynamic_shapes=shapes)
    inputs = list(made.graph.find_nodes(op="placeholder"))
    assert [n.meta["shape"][0].number is None for n in inputs] == [True, True, False, True]
    assert made.module()(z, x, y, z=x).item() == 15


def test_a_tuple_for_one_tensor_is_of_its_sizes():
    made = export(Of(), (taeda.ones(3, 4),), dynamic_shapes=((AUTO, None),))
    assert made.module()(taeda.ones(5, 4)).shape == (5, 4)
    with pytest.raises(UserError, match=r"for \*rest: a tuple of 1 entries"):
        export(Of(), (taeda.ones(3),), dynamic_shapes={"rest": ({}, {})})


class Of(nn.Module):
    def forward(self, *rest):
        return rest[0] + 1
