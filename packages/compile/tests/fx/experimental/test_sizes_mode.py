from __future__ import annotations

import operator

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


_BITS = ("and_", "or_", "xor", "lshift", "rshift")
_SIGNS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", *_BITS)
_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_WRITING = tuple(f"i{name.rstrip('_')}" for name in _SIGNS)


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", [*_SIGNS, *_COMPARED, *_WRITING])
def test_operators_of_python_take_a_size_on_each_side(name, swapped, half):
    """None of them fixes it, and those that write do: what else shows the tensor has it then."""
    apply = getattr(operator, name)
    bits = name.removeprefix("i") in (b.rstrip("_") for b in _BITS) or name in _BITS
    if (swapped and name in _WRITING) or (half and bits):
        return

    def f(x):
        y, n = x.clone(), x.shape[0] / 2 if half else x.shape[0]
        seen = y.view(-1)
        made = apply(n, y) if swapped else apply(y, n)
        return made, y, seen

    x = taeda.arange(1, 16).view(5, 3)
    x = x if bits else x / 4
    gm = make_fx(f, tracing_mode="symbolic")(x)
    assert gm.shape_env.format_guards() == ""
    for given in (x, x.repeat(2, 1)):
        for a, b in zip(gm(given), f(given), strict=True):
            assert a.equal(b)


def test_a_float_to_the_power_of_a_size_stays_one():
    def f(x):
        n = x.shape[0]
        return x * n**-0.5, x * 2.0**n, x * (n / 3) ** 2, x * n**2

    gm = make_fx(f, tracing_mode="symbolic")(taeda.ones(5, 3))
    assert gm.shape_env.format_guards() == ""
    for a, b in zip(gm(taeda.ones(7, 3)), f(taeda.ones(7, 3)), strict=True):
        assert a.equal(b)


def test_a_float_of_very_many_steps_is_its_number():
    def doubled(x):
        n = x.shape[0] / 3
        for _ in range(60):
            n = n + n
        return x * n

    gm = make_fx(doubled, tracing_mode="symbolic")(taeda.ones(5, 3))
    assert "==" in gm.shape_env.format_guards()
    assert gm(taeda.ones(5, 3)).equal(doubled(taeda.ones(5, 3)))
