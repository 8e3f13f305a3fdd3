"""Nodes of a graph: in order, by names that are known, within bounds."""

from __future__ import annotations

import pytest

import taeda
from taeda._core_api.files import FormatError
from taeda.export._pt2._reading.graph import DEEPEST, MOST_NODES, GraphReader, shown


def described(*nodes, inputs=("x",), outputs=("y",)):
    tensors = [[{"as_tensor": {"name": name}} for name in names] for names in (inputs, outputs)]
    values = {
        name: {
            "dtype": 7,
            "sizes": [{"as_int": 2}],
            "strides": [{"as_int": 1}],
            "requires_grad": False,
        }
        for name in ("x", "y", "z")
    }
    return {
        "inputs": tensors[0], "outputs": tensors[1], "nodes": list(nodes), "tensor_values": values,
        "sym_int_values": {}, "sym_bool_values": {}, "sym_float_values": {}, "is_single_tensor_return": False,
    }  # fmt: skip


def call(target, args, output, **rest):
    return {
        "target": target,
        "inputs": [{"name": "self", "arg": arg, "kind": 1} for arg in args],
        "outputs": [{"as_tensor": {"name": output}}],
        "metadata": {},
    } | rest


def tensor(name):
    return {"as_tensor": {"name": name}}


def test_a_function_of_tensors():
    relu = call("torch.ops.aten.relu.default", [tensor("x")], "y")
    made = GraphReader(described(relu)).function()
    assert made(taeda.tensor([-1.0, 2.0]))[0].tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    "nodes",
    [
        [call("torch.ops.aten.relu.default", [tensor("z")], "y")],
        [call("torch.ops.aten.smoke.default", [tensor("x")], "y")],
        [call("torch.ops.aten.relu.default", [{"as_int": 3, "as_float": 1.0}], "y")],
        [],
    ],
    ids=["used before it is made", "no operator", "two kinds", "an output that nobody makes"],
)
def test_what_does_not_hold_together_is_refused(nodes):
    with pytest.raises((FormatError, KeyError, TypeError)):
        GraphReader(described(*nodes)).function()


def test_bounds():
    with pytest.raises(FormatError, match="nodes"):
        GraphReader({"nodes": [None] * (MOST_NODES + 1)})
    with pytest.raises(FormatError, match="deep"):
        GraphReader({"nodes": []}, DEEPEST + 1)


def test_letters_of_arguments():
    graph = taeda.fx.Graph()
    assert shown((1, 2)) == "[" and shown(graph.placeholder("x")) == "n"
    assert shown(graph.create_node("get_attr", "f")) == "g"
