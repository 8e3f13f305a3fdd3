"""Suggested fixes of errors, applied to the demands that they are about."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, export
from taeda.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes as refined


class Fixed(nn.Module):
    def forward(self, x):
        return x.sin() if x.shape[1] == 3 else x.cos()


def test_an_error_of_export_is_mended():
    x, shapes = taeda.ones(4, 3), {"x": {0: Dim("n"), 1: Dim("t")}}
    with pytest.raises(UserError) as caught:
        export(Fixed(), (x,), dynamic_shapes=shapes)
    made = refined(str(caught.value), shapes)
    assert made["x"][1] is None
    assert shapes["x"][1] is not None
    program = export(Fixed(), (x,), dynamic_shapes=made).module()
    assert taeda.equal(program(taeda.ones(7, 3)), taeda.ones(7, 3).sin())


def shown(line):
    a, b = Dim("a"), Dim("b", max=90)
    return repr(refined(f"Suggested fixes:\n  {line}\n", ((a, 2 * a + 1), [b], {"k": None})))


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a = 4", "((4, 9), [b], {'k': None})"),
        ("a = None  # 4", "((None, None), [b], {'k': None})"),
        ("b = a", "((a, 2*a + 1), [a], {'k': None})"),
        ("b = 3*a - 2", "((a, 2*a + 1), [3*a + -2], {'k': None})"),
        ("a = 2*_a", "((2*_a, 4*_a + 1), [b], {'k': None})"),
        ("a = Dim('a', min=2)", "((a, 2*a + 1), [b], {'k': None})"),
    ],
)
def test_forms(line, wanted):
    assert shown(line) == wanted


@pytest.mark.parametrize("line", ["b = Dim('b', min=2, max=8)", "b = Dim('b', max=8)"])
def test_ranges(line):
    made = refined(f"Suggested fixes:\n{line}", {"x": {0: Dim("b", max=90)}})["x"][0]
    assert (made.min, made.max) == (2 if "min" in line else 0, 8)


def test_two_fixes_of_one_text():
    text = "Suggested fixes:\n  a = Dim('a', max=8)\n  b = a + 1"
    made = refined(text, {"x": (Dim("a"), Dim("b"))})["x"]
    assert (made[0].max, repr(made[1]), made[1].root.max) == (8, "a + 1", 8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("all is well", "has no suggested fixes"),
        ("Suggested fixes:\n", "has no suggested fixes"),
        ("Suggested fixes:\n  n is 3", "no suggested fix"),
        ("Suggested fixes:\n  m = 3", "a fix for m"),
        ("Suggested fixes:\n  n = __import__('os')", "no value of a fix"),
    ],
)
def test_what_is_no_fix(text, said):
    with pytest.raises(ValueError, match=said):
        refined(text, {"x": {0: Dim("n")}})
