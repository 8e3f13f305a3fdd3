"""What a call of a program is checked for, and what is said where it does not fit."""

from __future__ import annotations

import pytest
from program_models import normal

import taeda
from taeda import nn
from taeda.export import Dim, export
from taeda.export._checks import Checks, checked_leaves


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
        self.register_buffer("shift", taeda.ones(3))

    def forward(self, x, k, y, *, last=None):
        return self.layer(x) * k + self.shift, y, last


def program():
    n = Dim("n", min=2, max=6)
    shapes = ({0: n}, None, {0: 2 * n + 1}, None)
    return export(Two(), (normal(3, 2), 4, normal(7)), {"last": "a"}, dynamic_shapes=shapes)


def test_leaves_come_in_order():
    x, y = normal(5, 2), normal(11)
    leaves = checked_leaves(program(), (x, 4, y), {"last": "a"})
    assert leaves[0] is x and leaves[2] is y and leaves[1] == 4 and leaves[3] == "a"


@pytest.mark.parametrize(
    ("args", "last", "said"),
    [
        ((normal(7, 2), 4, normal(15)), "a", r"from 2 to 6, got 7: .* read from x\.size\(\)\[0\]: export"),
        ((normal(3, 2), 5, normal(7)), "a", r"k == 4, got 5: .*part of the program"),
        ((normal(3, 2), 4.0, normal(7)), "a", r"k == 4, got 4\.0"),
        ((normal(3, 2), 4, normal(7)), "b", r"last == 'a', got 'b'"),
        ((normal(3, 2), 4, normal(8)), "a", r"y\.size\(\)\[0\] == 2\*s0 \+ 1 \(s0 is 3\), got 8"),
        ((normal(3, 1), 4, normal(7)), "a", r"x\.size\(\)\[1\] == 2, got 1: .*with a Dim for dimension 1"),
        ((normal(3, 2).double(), 4, normal(7)), "a", r"dtype == taeda\.float32, got taeda\.float64"),
        ((normal(3), 4, normal(7)), "a", r"x\.dim\(\) == 2, got 1: .*sizes \[s0, 2\]; .*this one has \[3\]"),
        ((3.0, 4, normal(7)), "a", r"x is a tensor, got float: .*pass a tensor of"),
        (([normal(3, 2)], 4, normal(7)), "a", r"x is a tensor, got list"),
        ((normal(3, 2), 4), "a", r"the program was exported for .*pass as many"),
    ],
)  # fmt: skip
def test_what_does_not_fit_says_so_and_what_to_do(args, last, said):
    run = program().module()
    with pytest.raises(AssertionError, match=f"Guard failed: .*{said}"):
        run(*args, last=last)


def test_a_size_that_two_arguments_have():
    n = Dim("n")

    class Sum(nn.Module):
        def forward(self, x, y):
            return x + y

    run = export(Sum(), (normal(3), normal(3)), dynamic_shapes=({0: n}, {0: n})).module()
    with pytest.raises(AssertionError, match=r"y\.size\(\)\[0\] == s0 \(s0 is 4\), got 1"):
        run(normal(4), normal(1))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("layer.weight", nn.Parameter(normal(1, 2)), r"layer\.weight\.size\(\)\[0\] == 3, got 1"),
        ("layer.bias", nn.Parameter(normal(3).double()), r"layer\.bias\.dtype"),
        ("shift", normal(2, 3), r"shift\.dim\(\) == 1, got 2: the buffer shift has sizes \[3\]"),
    ],
)
def test_a_weight_of_another_shape(name, value, said):
    run = program().module()
    owner, _, last = name.rpartition(".")
    setattr(run.get_submodule(owner), last, value)
    with pytest.raises(AssertionError, match=f"Guard failed: {said}"):
        run(normal(3, 2), 4, normal(7), last="a")


def test_checks_are_taken_from_the_program_once():
    checks = Checks(program())
    assert [place.name for place in checks.places] == ["x", "y"]
    assert [place.name for place in checks.state] == ["layer.weight", "layer.bias", "shift"]
    checks.arguments([normal(3, 2), 4, normal(7), "a"])
