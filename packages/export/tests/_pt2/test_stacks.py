"""Calls of modules as text, and back."""

from __future__ import annotations

import pytest

from taeda.export._pt2._stacks import stack_of, text_of_stack

STACK = {"a": ("a", "Sequential"), "a.0@2": ("a.0", "Linear")}


def test_there_and_back():
    text = text_of_stack(STACK, "Model")
    assert text.startswith("L__self__,,Model;") and stack_of(text) == STACK
    assert stack_of(text_of_stack({}, "Model")) == {}


DEEP = ";".join(f"x,m{k},y" for k in range(200))


@pytest.mark.parametrize(
    "text",
    ["", "a", "a,b", "x,a b,c", "x,a..b,c", "x,a@b,c", None, 5, "x,y,z;" * 9999, DEEP],
)
def test_text_that_says_no_calls(text):
    with pytest.raises(RuntimeError, match="module"):
        stack_of(text)
