from __future__ import annotations

import pytest

import taeda
from taeda import fx
from taeda.fx.experimental import symbolic_shapes as sizes
from taeda.fx.experimental._expressions import Relation, constant, symbol
from taeda.fx.experimental.proxy_tensor import make_fx


@pytest.fixture
def env():
    return sizes.ShapeEnv()


def size(env, value):
    return env.create_symintnode(env.create_symbol(value, f"x{value}"), hint=value)


def test_equality_of_trees_guards_nothing(env):
    a, b = size(env, 4), size(env, 6)
    assert sizes.sym_eq((a, [2, b]), (a, [2, b])) is True
    assert sizes.sym_eq((2, 3), (2, 4)) is False and sizes.sym_eq((a,), (a, b)) is False
    asked = sizes.sym_eq((a, b), (4, 6))
    assert not env.guards and bool(asked) and len(env.guards) == 1
    for x, y, same in ((4, 6, True), (4, 7, False), (5, 5, False)):
        assert asked.relation.value({"s0": x, "s1": y}) == same
    assert not sizes.sym_eq((a, b), (6, 4))
    with pytest.raises(TypeError, match="SymInt and str"):
        sizes.sym_eq(a, "4")


def test_two_sizes_that_are_one(env):
    a, b = size(env, 4), size(env, 6)
    sizes.constrain_unify(a * 3, b * 2)
    assert [str(g) for g in env.guards] == ["3*s0 == 2*s1"]
    with pytest.raises(ValueError, match="s0 and s1 are not equal in this call"):
        sizes.constrain_unify(a, b)


def test_a_guarded_answer(env):
    assert sizes.guard_size_oblivious(size(env, 4) > 2) is True
    assert sizes.guard_size_oblivious(False) is False
    assert [str(g) for g in env.guards] == ["s0 > 2"]


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
def test_a_relation_in_one_form_says_the_same(sign):
    x, y = symbol("x"), symbol("y")
    relation = Relation(sign, x + constant(3), y * y - constant(2))
    made = sizes.canonicalize_bool_expr(relation)
    assert made.left.number is not None and made.sign in ("==", "!=", "<", "<=")
    for a in range(-4, 5):
        for b in range(-4, 5):
            assert made.value({"x": a, "y": b}) == relation.value({"x": a, "y": b})


def test_nodes_that_read_a_size():
    gm = make_fx(lambda x: x.view(x.shape[0] * x.shape[1]), tracing_mode="symbolic")(
        taeda.ones(3, 4)
    )
    found = [n.name for n in gm.graph.nodes if sizes.is_accessor_node(n)]
    assert len(found) == 2 and all("sym_size" in name for name in found)
    torch_level = fx.symbolic_trace(lambda x: x.size(0) + x.sum().item())
    assert [n.name for n in torch_level.graph.nodes if sizes.is_accessor_node(n)] == [
        "size",
        "item",
    ]


def test_values_of_two_traces(env):
    a = size(env, 4)
    sizes.check_consistent(taeda.ones(2, 3), taeda.zeros(2, 3))
    sizes.check_consistent(a + 1, a + 1)
    sizes.check_consistent(3, 3)
    for new, old in ((taeda.ones(2), taeda.ones(3)), (a, a + 1), (3, 4), (taeda.ones(1), 1)):
        with pytest.raises(AssertionError, match="became"):
            sizes.check_consistent(new, old)
