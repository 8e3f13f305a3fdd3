from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._expressions import Relation, constant
from taeda.fx.experimental.symbolic_shapes import ShapeEnv


def test_other_arguments_are_judged():
    env = ShapeEnv()
    n, m = (env.create_symbol(v, "x") for v in (6, 4))
    env.evaluate_relation(Relation(">", n, m))
    places = [(n, m, constant(3)), (n,), m]
    judge = env.evaluate_guards_for_args
    x, y = taeda.ones(9, 7, 3), taeda.ones(9)
    assert env.bind_symbols(places, [x, y, 7]) == {"s0": 9, "s1": 7}
    assert judge(places, [x, y, 7])
    assert not judge(places, [taeda.ones(7, 9, 3), taeda.ones(7), 9])  # s0 > s1
    assert not judge(places, [x, taeda.ones(8), 7])  # s0 twice
    assert not judge(places, [taeda.ones(9, 7, 4), y, 7])  # the 3
    assert not judge(places, [taeda.ones(9, 1, 3), y, 1])  # sizes of 1 are another trace
    assert not judge(places, [taeda.ones(9, 7), y, 7])
    with pytest.raises(ValueError, match="9 in one place and 8 in another"):
        env.bind_symbols(places, [x, taeda.ones(8), 7])


def test_guards_as_text_and_back():
    env = ShapeEnv()
    a, b = (env.create_symintnode(env.create_symbol(v, f"x{v}"), hint=v) for v in (6, 10))
    assert env.produce_guards_expression([a, b]) is None
    assert a > 4 and a * 2 != b and b % 5 == 0
    text = env.produce_guards_expression([7, b, a])
    for x, y in ((6, 10), (4, 10), (6, 12), (6, 11), (20, 25)):
        expected = env.evaluate_guards_for_args([a, b], [x, y])
        assert env.evaluate_guards_expression(text, [7, y, x]) == expected
    assert [str(g) for g in env.get_pruned_guards([a])] == ["s0 > 4"]
    assert env.get_pruned_guards([a, b]) == env.guards
    with pytest.raises(ValueError, match="depends on s1"):
        env.produce_guards_expression([a])
