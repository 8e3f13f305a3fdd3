from __future__ import annotations

import math

import pytest

import taeda
from taeda.fx.experimental._expressions import Relation, constant, symbol
from taeda.fx.experimental.symbolic_shapes import (
    DimDynamic,
    GuardOnDataDependentSymNode,
    ShapeEnv,
    ShapeEnvSettings,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    ValueRanges,
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
    # it is no size, so 1 is no trace apart
    assert env.evaluate_guards_for_args([(), name], [(), 1])
    scale = env.create_symfloatnode(env.create_unspecified_symbol(1.5, "k"), hint=1.5)
    assert str(scale) == "zf0" and scale * 2 == 3.0 and env.evaluate_sym_node(scale) == 1.5
    with pytest.raises(ValueError, match=r"the hint of zf0 is 1\.5, got 2"):
        env.create_symfloatnode(scale.expr, hint=2.0)
    with pytest.raises(TypeError, match="val must be an int or a float"):
        env.create_unspecified_symbol("1", "k")


def test_formulas_as_text_and_back():
    env = ShapeEnv()
    a, b = (env.create_symintnode(env.create_symbol(v, f"x{v}"), hint=v) for v in (6, 10))
    for made in (a * 2 + b, (a + b) // 3, a % 4 - 7, taeda.sym_max(a, b) ** 2, -a):
        again = env.deserialize_symexpr(str(made))
        assert again.expr == made.expr and env.evaluate_symexpr(str(made)) == made.hint
    assert env.evaluate_symexpr("s0 < s1") is True and not env.guards
    assert env.evaluate_sym_node(a + 1) == 7 and env.evaluate_sym_node(a < b) is True
    assert [str(g) for g in env.guards] == ["s0 + 1 == 7", "s0 < s1"]


def test_ranges_answer_and_guards_narrow_them():
    env = ShapeEnv()
    n, m = (env.create_symintnode(env.create_symbol(v, "x")) for v in (6, 4))
    assert env.bound_sympy(n.expr) == ValueRanges(2) and n > 1 and env.guards == []
    assert n > 3 and n * 2 < 40
    assert env.bound_sympy(n.expr) == ValueRanges(4, 19)
    assert env.bound_sympy((3 * n - m).expr) == ValueRanges(-math.inf, 55)
    assert n < 25 and n + m > 5 and len(env.guards) == 2
    assert n > m and n != m and n >= m and len(env.guards) == 3
    assert [str(a) for a in env.get_axioms([m.expr])] == ["s0 > s1", "s1 >= 2"]
    assert [str(a) for a in env.get_axioms([n.expr], compute_hint=True)][2] == "s0 > 4"
    facts = {str(fact): answer for fact, answer in env.get_implications((n > m).relation)}
    assert facts["s0 != s1"] is True and facts["s0 <= s1"] is False
    env.cleanup()
    assert not env.guards and not env.var_to_range


def test_sizes_strides_and_offset_of_a_tensor():
    env = ShapeEnv()
    whole = taeda.empty(5, 6, 4)
    assert str(env.create_symbolic_sizes_strides_storage_offset(whole, "x")) == (
        "((s0, s1, s2), (s1*s2, s2, 1), 0)"
    )
    turned = env.create_symbolic_sizes_strides_storage_offset(whole[1:, :, :3].mT, "y")
    assert str(turned) == "((s2, s3, s1), (s1*s4, 1, s4), s5)"
    assert [s.hint for part in turned[:2] for s in part if s != 1] == [4, 3, 6, 24, 4]
    assert env.var_to_sources["s2"] == ["x.size(2)", "y.size(0)"]
    assert env.var_to_sources["s4"] == ["y.stride(2)"]


def test_contexts_say_what_stands_for_a_size():
    env = ShapeEnv()
    kinds = (DimDynamic.DUCK, DimDynamic.DYNAMIC, DimDynamic.STATIC, DimDynamic.UNBACKED)
    x = taeda.empty(5, 5, 5, 5)
    made = env.create_symbolic_sizes_strides_storage_offset(
        x, "x", symbolic_context=StatelessSymbolicContext(kinds)
    )
    assert str(made[0]) == "(s0, s1, 5, u0)"
    assert str(made[1]) == "(5*s1*u0, 5*u0, u0, 1)"
    with pytest.raises(GuardOnDataDependentSymNode, match="only data decide u0 == 5"):
        bool(made[0][3] == 5)
    kept = StatefulSymbolicContext(kinds[:2], tensor_source="y")
    twice = [
        env.create_symbolic_sizes_strides_storage_offset(
            taeda.empty(7, 7), "y", symbolic_context=kept
        )
        for _ in range(2)
    ]
    assert str(twice[0]) == str(twice[1]) and str(twice[0][0]) == "(s2, s3)"
    static = ShapeEnv(assume_static_by_default=True)
    assert static.create_symbolic_sizes_strides_storage_offset(x, "x")[0] == (5, 5, 5, 5)
    assert static.settings == ShapeEnvSettings(True, True, True)
    with pytest.raises(ValueError, match="the context has 2 dimensions, the tensor 4"):
        env.create_symbolic_sizes_strides_storage_offset(x, "x", symbolic_context=kept)
    with pytest.raises(TypeError, match="must be a StatelessSymbolicContext, got int"):
        env.create_symbolic_sizes_strides_storage_offset(x, "x", symbolic_context=3)


def test_assertions_for_the_run():
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    assert not statically_known_true(u >= 4)
    env.defer_runtime_assert((u >= 4).relation, "at least four rows")
    assert statically_known_true(u >= 4) and u > 2
    env.defer_runtime_assert((u > 1).relation, "known already")
    assert [(str(q), why) for q, why in env.deferred_runtime_asserts] == [
        ("u0 >= 4", "at least four rows")
    ]
    with pytest.raises(RuntimeError, match="u0 < 2 cannot hold: few"):
        env.defer_runtime_assert((u < 2).relation, "few")
    env.freeze_runtime_asserts()
    with pytest.raises(RuntimeError, match="frozen, and u0 > 9 would be a new one"):
        env.defer_runtime_assert((u > 9).relation, "many")


def test_what_only_data_decide():
    env = ShapeEnv()
    u, f, b = env.create_unbacked_symint(), env.create_unbacked_symfloat(), None
    with env.ignore_fresh_unbacked_symbols():
        b = env.create_unbacked_symbool()
    assert [str(s) for s in env.pending_fresh_unbacked_symbols] == ["u0", "zuf0"]
    assert env.is_unbacked_symint(u.expr) and not env.is_unbacked_symint((u + 1).expr)
    for ask in (
        lambda: bool(u > 3),
        lambda: int(u),
        lambda: bool(b),
        lambda: float(f),
        lambda: u.hint,
    ):
        with pytest.raises(GuardOnDataDependentSymNode, match="only data decide"):
            ask()
    assert (u + 3) - u == 3 and u == u and env.guards == []
    env.set_unbacked_var_to_val(u.expr, 7)
    assert u > 3 and env.format_guards() == " - u0 > 3"
    for wrong, said in (
        (lambda: env.set_unbacked_var_to_val(u.expr, 2), "u0 cannot be 2"),
        (lambda: env.set_unbacked_var_to_val(symbol("s9"), 2), "s9 is no symbol"),
    ):
        with pytest.raises(ValueError, match=said):
            wrong()


def test_a_question_of_sizes_as_a_bool():
    env = ShapeEnv()
    n = env.create_symbol(6, "x")
    assert env.create_symboolnode(Relation(">", n, n)) is False
    assert str(env.create_symboolnode(Relation(">", n, constant(4)))) == "s0 > 4"
