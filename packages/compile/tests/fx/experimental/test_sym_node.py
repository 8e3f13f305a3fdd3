from __future__ import annotations

import copy
import math
import pickle

import pytest

import taeda
from taeda.fx.experimental.sym_node import SymBool, SymInt
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
        int, float, hash, lambda n: list(range(n)), lambda n: n / 2, lambda n: 2 / n,
        lambda n: n**-0.5, lambda n: 2**n, lambda n: n * 1.5, lambda n: [0] * n, lambda n: n > 2.5,
        lambda n: f"{n:3d}", lambda n: {n: 1},
    ):  # fmt: skip
        env = ShapeEnv()
        n = size(env, 6)
        ask(n)
        assert env.format_guards() == " - s0 == 6"
        assert n * 1.5 == 9 and 6 / n == 1 and len(env.guards) == 1


def test_questions_are_guarded_once_asked(env):
    n, m = size(env, 6), size(env, 5)
    question = n > m
    assert isinstance(question, SymBool) and env.guards == []
    assert question and n != m and n + 1 > n
    assert [str(g) for g in env.guards] == ["s0 > s1", "s0 != s1"]
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
