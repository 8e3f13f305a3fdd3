"""Models without what they do not need keep every result."""

import taeda
from taeda.onnx._model import Inner, Model, Node, Port
from taeda.onnx._optimize import optimized


def kinds(model):
    optimized(model)
    return [node.kind for node in model.nodes]


def model(nodes, outputs):
    ports = [Port(name, taeda.float32, [2]) for name in outputs]
    return Model(20, nodes=nodes, weights={"w": taeda.ones(2)}, outputs=ports)


def test_copies_twins_and_what_nobody_reads():
    made = model(
        [
            Node("Identity", ["x"], ["a"], {}), Node("Exp", ["a"], ["b"], {}),
            Node("Exp", ["x"], ["c"], {}), Node("Log", ["x"], ["d"], {}),
            Node("Add", ["b", "c"], ["y"], {}),
        ],
        ["y"],
    )  # fmt: skip
    assert kinds(made) == ["Exp", "Add"]
    assert made.nodes[1].inputs == ["b", "b"] and not made.weights


def test_random_numbers_are_drawn_twice():
    made = model(
        [
            Node("RandomNormal", [], ["a"], {}), Node("RandomNormal", [], ["b"], {}),
            Node("Add", ["a", "b"], ["y"], {}),
        ],
        ["y"],
    )  # fmt: skip
    assert kinds(made) == ["RandomNormal", "RandomNormal", "Add"]


def test_what_a_branch_reads_is_kept_and_renamed():
    branch = Inner(
        "then", [Node("Add", ["a", "w"], ["z"], {})], [], [Port("z", taeda.float32, [2])]
    )
    made = model(
        [Node("Identity", ["x"], ["a"], {}), Node("If", ["p"], ["y"], {"then_branch": branch})],
        ["y"],
    )
    assert kinds(made) == ["If"]
    assert branch.nodes[0].inputs == ["x", "w"] and set(made.weights) == {"w"}


def test_an_output_is_what_makes_it_and_no_copy():
    made = model(
        [
            Node("Exp", ["x"], ["a"], {}), Node("Log", ["a"], ["b"], {}),
            Node("Identity", ["a"], ["y"], {}), Node("Identity", ["a"], ["again"], {}),
            Node("Identity", ["x"], ["same"], {}), Node("Identity", ["b"], ["z"], {}),
        ],
        ["y", "again", "same", "z"],
    )  # fmt: skip
    assert kinds(made) == ["Exp", "Log", "Identity", "Identity"]
    assert [node.inputs + node.outputs for node in made.nodes] == [
        ["x", "y"], ["y", "z"], ["y", "again"], ["x", "same"]
    ]  # fmt: skip
