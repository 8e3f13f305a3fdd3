from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._known import (
    constrain_range,
    definitely_false,
    definitely_true,
    guard_or_false,
    guard_or_true,
    has_free_symbols,
    has_free_unbacked_symbols,
    hint_int,
    is_concrete_float,
    lru_cache,
    statically_known_true,
    sym_and,
    sym_or,
)
from taeda.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv


@pytest.fixture
def env():
    return ShapeEnv()


def size(env, hint):
    return env.create_symintnode(env.create_symbol(hint, "x"))


def test_answers_that_data_decide_are_the_safe_ones(env):
    n, u = size(env, 6), env.create_unbacked_symint()
    assert guard_or_true(u > 3) and not guard_or_false(u > 3) and env.guards == []
    assert not definitely_true(u > 3) and not definitely_false(u > 3)
    assert guard_or_false(n > 3) and definitely_false(n < 3) and not guard_or_true(n > 9)
    assert [str(g) for g in env.guards] == ["s0 > 3", "s0 <= 9"]
    assert guard_or_true(u + 1 > u) and guard_or_false(True) and not guard_or_true(False)


def test_symbols_of_two_kinds(env):
    n, u = size(env, 6), env.create_unbacked_symint()
    assert has_free_symbols(n / 2) and has_free_symbols([u > 3]) and not has_free_symbols([2.5])
    assert has_free_unbacked_symbols({"a": (n, u)}) and has_free_unbacked_symbols(u / 2)
    assert not has_free_unbacked_symbols([n, n > 3, taeda.ones(2)])
    assert not is_concrete_float(n / 2) and is_concrete_float(2.0) and not is_concrete_float(2)
    assert n == 6 and is_concrete_float(n / 2)


def test_hints_ask_nothing(env):
    n, u = size(env, 6), env.create_unbacked_symint()
    assert hint_int(n * 2) == 12 and hint_int(3) == 3 and hint_int(u, fallback=7) == 7
    assert hint_int(n, fallback=7) == 6 and env.guards == []
    with pytest.raises(GuardOnDataDependentSymNode, match="only data decide u0"):
        hint_int(u)


def test_all_and_any(env):
    n, m = size(env, 6), size(env, 5)
    assert str(sym_and(n > 3, m > 3, n > m)) == "s0 > 3 and s1 > 3 and s0 > s1"
    assert str(sym_or(n > 3, False, m > 3)) == "s0 > 3 or s1 > 3"
    assert sym_and(n > 3, False) is False and sym_or(True) is True and env.guards == []


def test_ranges_without_guards(env):
    n, u = size(env, 6), env.create_unbacked_symint()
    constrain_range(u, min=2, max=9)
    constrain_range(u, min=None, max=7)
    assert statically_known_true(u < 8) and statically_known_true(u > 1) and env.guards == []
    constrain_range(u, min=7)
    assert statically_known_true(u == 7) and int(u) == 7
    constrain_range(5, min=2)
    constrain_range(u, min=7, max=7)
    constrain_range(n, min=3, max=9)
    assert statically_known_true(n < 10)
    for wrong, said in (
        (lambda: constrain_range(5, min=6), "5 is not at least 6"),
        (lambda: constrain_range(n, min=8), "s0 is 6 in this call"),
        (lambda: constrain_range(u, min=8), "7 is not at least 8"),
        (lambda: constrain_range(n + 1, min=2), "is a formula"),
        (lambda: constrain_range(n, min=5, max=4), "no number is at least 5"),
    ):
        with pytest.raises(ValueError, match=said):
            wrong()


def test_a_cache_that_counts_over_all_its_lives():
    calls = []
    doubled = lru_cache(2)(lambda n: calls.append(n) or 2 * n)
    assert [doubled(n) for n in (1, 1, 2, 3, 1)] == [2, 2, 4, 6, 2]
    assert calls == [1, 2, 3, 1]
    doubled.cache_clear()
    assert doubled.cache_info()[:2] == (0, 0) and doubled(1) == 2
    assert doubled.cumulative_cache_info()[:2] == (1, 5)
