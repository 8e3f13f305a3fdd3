from __future__ import annotations

import copy
import math
import pickle

import pytest

import taeda
from taeda.fx.experimental.sym_node import SymBool, SymFloat, SymInt
from taeda.fx.experimental.symbolic_shapes import ShapeEnv


@pytest.fixture
def env():
    return ShapeEnv()


def size(env, hint):
    return env.create_symintnode(env.create_symbol(hint, "x.size(0)"))


def test_arithmetic_asks_nothing(env):
    n = size(env, 6)
    for made, hint in (
        (n + 1, 7), (1 - n, -5), (n * n, 36), (n // 4, 1), (100 // n, 16), (n % 4, 2), (-n, -6),
        (n**3, 216), (taeda.sym_max(n, 4), 6), (taeda.sym_min(2, n), 2), (divmod(n, 4)[1], 2),
        (taeda.sym_int(n), 6), (math.floor(n), 6), (round(n), 6), (sum([n, n]), 12),
        (taeda.sym_sum([n, 1]), 7),
    ):  # fmt: skip
        assert isinstance(made, SymInt) and made.hint == hint
    assert (n - n) == 0 and type(n - n) is int and n // n == 1
    assert env.guards == []


def test_what_needs_the_number_fixes_it(env):
    for ask in (
        int, float, hash, lambda n: list(range(n)), lambda n: 2**n,
        lambda n: n * 1j, lambda n: [0] * n, lambda n: f"{n:3d}", lambda n: {n: 1}, math.sqrt,
        taeda.sym_fresh_size, lambda n: n.as_integer_ratio()[0].__index__(),
    ):  # fmt: skip
        env = ShapeEnv()
        n = size(env, 6)
        ask(n)
        assert env.format_guards() == " - s0 == 6"
        assert n * 1.5 == 9 and 6 / n == 1 and len(env.guards) == 1


FLOATS = {
    "half": lambda n: n / 2,
    "one by": lambda n: 1 / n,
    "scaled": lambda n: 1.5 * n - 0.25,
    "cast": lambda n: taeda.sym_float(n),
    "larger": lambda n: taeda.sym_max(n / 4, 1.0),
    "smaller": lambda n: taeda.sym_min(n, 1.5),
    "rest": lambda n: (n / 7) % 0.3 // 0.1,
    "negative": lambda n: -(n / 3) + n,
    "root": lambda n: n**-0.5,
    "power": lambda n: 1.5**n,
    "squared": lambda n: (n / 3) ** 2,
    "conjugate": lambda n: (n / 3).conjugate(),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_have_the_bits_that_python_gives_and_ask_nothing(env, name):
    made = FLOATS[name](size(env, 6))
    assert isinstance(made, SymFloat) and isinstance(made, taeda.SymFloat)
    for number in (6, 10, 1003):
        assert made.expr.value({"s0": number}) == FLOATS[name](number)
    assert env.guards == [] and env.evaluate_symexpr(str(made)) == made.hint
    assert env.deserialize_symexpr(str(made)).expr == made.expr


def test_a_float_that_is_needed_is_fixed():
    for ask in (
        float, int, round, math.floor, hash, math.sqrt, lambda f: f.hex(),
        lambda f: f.is_integer(), lambda f: f.as_integer_ratio(), taeda.sym_int, lambda f: f * 1j,
        lambda f: f"{f:.1f}",
    ):  # fmt: skip
        env = ShapeEnv()
        asked = size(env, 6) / 4
        assert ask(asked) == ask(1.5)
        assert env.format_guards() == " - s0 / 4 == 1.5"


def test_floats_are_compared(env):
    n = size(env, 6)
    question = n / 4 > 1.25
    assert isinstance(question, SymBool) and env.guards == []
    assert question and n > 2.5 and bool(n / 2)
    assert env.format_guards() == " - s0 / 4 > 1.25\n - s0 > 2.5\n - s0 / 2 != 0"
    assert abs(n / 2 - 4) == 1
    with pytest.raises(ZeroDivisionError):
        n / 0
    with pytest.raises(TypeError):
        n / "a"
    for odd in ("a", None, 1j):
        with pytest.raises(TypeError, match="have no order"):
            taeda.sym_max(n, odd)


def test_they_are_what_programs_ask_for(env):
    n = size(env, 6)
    assert isinstance(n, (int, taeda.SymInt)) and isinstance(n > 3, (bool, taeda.SymBool))
    assert not isinstance(n, (int, float, taeda.SymFloat))
    assert n.as_integer_ratio() == (n, 1) and taeda.sym_ite(n > 3, n, n + 1) is n


def test_questions_are_joined_without_asking(env):
    n, m = size(env, 6), size(env, 5)
    both, one = (n > 3) & (m < 9), (n > 8) | (m > 3)
    assert str(both) == "s0 > 3 and s1 < 9" and str(one) == "s0 > 8 or s1 > 3"
    assert env.guards == [] and both and one
    assert [str(g) for g in env.guards] == ["s0 > 3", "s1 < 9", "s0 > 8 or s1 > 3"]
    assert not (~one | ~both)
    assert ((n > 3) & True) is not True and ((n > 3) & False) is False and ((n > 3) | True) is True
    with pytest.raises(TypeError):
        (n > 3) & "a"


def test_questions_are_guarded_once_asked(env):
    n, m = size(env, 6), size(env, 5)
    question = n > m
    assert isinstance(question, SymBool) and env.guards == []
    assert question and n != m and n + 1 > n
    assert [str(g) for g in env.guards] == ["s0 > s1"]  # which says that they differ
    assert taeda.sym_not(n < m) and bool(~(n < m)) and ((n > 2) & (m > 2)) and abs(n - m) == n - m
    assert bool(n)


def test_they_belong_to_their_trace(env):
    n = size(env, 6)
    assert copy.deepcopy(n) is n and repr(n) == "s0" and f"{n}" == "s0"
    with pytest.raises(TypeError, match="belongs to a trace"):
        pickle.dumps(n)
    with pytest.raises(TypeError):
        n + "a"
    assert not isinstance(n, int)
