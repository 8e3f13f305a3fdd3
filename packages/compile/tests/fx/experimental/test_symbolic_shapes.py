from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._expressions import Relation, constant, symbol
from taeda.fx.experimental.symbolic_shapes import (
    ShapeEnv,
    has_free_symbols,
    is_concrete_bool,
    is_concrete_int,
    statically_known_true,
)


def test_symbols_of_sizes():
    env = ShapeEnv()
    a, b, again = (env.create_symbol(n, f"x.size({d})") for d, n in enumerate((6, 4, 6)))
    assert a == again == symbol("s0") and b == symbol("s1")
    assert env.create_symbol(1, "x.size(3)") == constant(1)
    assert env.var_to_val == {"s0": 6, "s1": 4}
    assert env.var_to_sources["s0"] == ["x.size(0)", "x.size(2)"]
    apart = ShapeEnv(duck_shape=False, specialize_zero_one=False)
    assert [str(apart.create_symbol(n, "x")) for n in (6, 6, 1)] == ["s0", "s1", "s2"]
    with pytest.raises(TypeError, match="must be an int, got float"):
        env.create_symbol(2.0, "x")
    with pytest.raises(ValueError, match="the hint of s0 is 6, got 7"):
        env.create_symintnode(a, hint=7)
    with pytest.raises(ValueError, match="new symbol"):
        env.add_var_to_val(a, 3)


def test_guards_are_what_must_hold():
    env = ShapeEnv()
    n, m = (env.create_symintnode(env.create_symbol(v, "x")) for v in (6, 4))
    assert n > 2 and not n < m and n > 2
    assert env.format_guards() == " - s0 > 2\n - s0 >= s1"
    assert env.format_guards(verbose=True).startswith(" - s0 > 2 (s0 is x)")
    assert m == 4
    assert env.simplify(n.expr + m.expr) == symbol("s0") + constant(4)
    assert [str(g) for g in env.get_nontrivial_guards()] == ["s0 > 2", "s0 >= s1", "s1 == 4"]
    with env.suppress_guards():
        assert n != 5
    assert len(env.guards) == 3
    env.freeze()
    assert n > 2
    with pytest.raises(RuntimeError, match="frozen, and s0 > 5 would be a new guard"):
        bool(n > 5)


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


def test_environments_are_compared():
    one, other = ShapeEnv(), ShapeEnv()
    one.create_symbol(3, "x")
    with pytest.raises(AssertionError, match="differ in var_to_val"):
        one.check_equal(other)
    other.create_symbol(3, "x")
    one.check_equal(other)


def test_what_is_known_without_asking():
    env = ShapeEnv()
    n, m = (env.create_symintnode(env.create_symbol(v, "x")) for v in (6, 4))
    assert is_concrete_int(3) and not is_concrete_int(n) and not is_concrete_int(2.0)
    assert is_concrete_bool(True) and is_concrete_bool(n < n + 1) and not is_concrete_bool(n > m)
    assert statically_known_true(True) and statically_known_true(n < n + 1)
    assert not statically_known_true(n > m) and not statically_known_true(n > n)
    assert has_free_symbols([1, {"a": (n,)}]) and has_free_symbols(n > m)
    assert not has_free_symbols([1, {"a": (2.0, "n")}])
    assert env.guards == []
    assert int(m) == 4
    assert is_concrete_int(m) and is_concrete_bool(m > 3) and statically_known_true(m > 3)


def test_an_integer_that_is_no_size_has_a_symbol_of_its_own():
    env = ShapeEnv()
    made = [env.create_unspecified_symbol(v, "k") for v in (1, 4, 4)]
    assert [str(m) for m in made] == ["s0", "s1", "s2"]
    number, name = env.create_unspecified_symint_and_symbol(0, "n")
    assert number.hint == 0 and str(name) == "s3"
    with pytest.raises(TypeError, match="val must be an int"):
        env.create_unspecified_symbol(1.5, "k")


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


def test_formulas_as_text_and_back():
    env = ShapeEnv()
    a, b = (env.create_symintnode(env.create_symbol(v, f"x{v}"), hint=v) for v in (6, 10))
    for made in (a * 2 + b, (a + b) // 3, a % 4 - 7, taeda.sym_max(a, b) ** 2, -a):
        again = env.deserialize_symexpr(str(made))
        assert again.expr == made.expr and env.evaluate_symexpr(str(made)) == made.hint
    assert env.evaluate_symexpr("s0 < s1") is True and not env.guards
    assert env.evaluate_sym_node(a + 1) == 7 and env.evaluate_sym_node(a < b) is True
    assert [str(g) for g in env.guards] == ["s0 + 1 == 7", "s0 < s1"]
