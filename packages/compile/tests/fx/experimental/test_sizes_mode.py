from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._sizes_mode import Sizes
from taeda.fx.experimental.proxy_tensor import make_fx
from taeda.fx.experimental.sym_node import SymInt


def seen(look, *sizes):
    """What the program sees, and the guards that looking at it left."""
    found = []

    def f(x):
        found.append(look(x))
        return x

    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(*sizes))
    return found[0], gm.shape_env.format_guards()


def test_shapes_hold_symbols_but_for_zero_and_one():
    shape, guards = seen(lambda x: x.shape, 3, 1, 4)
    assert isinstance(shape, Sizes) and isinstance(shape[0], SymInt) and shape[1] == 1
    assert isinstance(shape[1:], Sizes) and isinstance(shape + shape, Sizes)
    assert str(shape.numel()) == "s0*s1" and guards == ""


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (lambda x: x.size(), "(s0, s1)"), (lambda x: x.size(-1), "s1"),
        (lambda x: x.size(dim=0), "s0"), (lambda x: x.numel(), "s0*s1"),
        (lambda x: taeda.numel(x), "s0*s1"), (lambda x: x.dim(), "2"), (lambda x: x.ndim, "2"),
        (lambda x: x.stride()[1], "1"),
    ],
)  # fmt: skip
def test_questions(look, text):
    found, guards = seen(look, 3, 4)
    assert guards == "" and str(found) == text


def test_a_result_has_symbols_of_its_own():
    (size,), guards = seen(lambda x: x.T.shape[1:], 3, 4)
    assert isinstance(size, SymInt) and size.hint == 3 and guards == ""


def test_a_length_is_a_number():
    assert seen(len, 3, 4) == (3, " - s0 == 3")
    with pytest.raises(TypeError, match="0-d"):
        make_fx(len, tracing_mode="symbolic")(taeda.tensor(1.0))


def test_dimensions_are_checked():
    with pytest.raises(IndexError):
        seen(lambda x: x.size(2), 3, 4)
    with pytest.raises(IndexError):
        seen(lambda x: x.stride(2), 3, 4)
