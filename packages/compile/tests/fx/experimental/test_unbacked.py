from __future__ import annotations

import pytest

import taeda
from taeda import fx
from taeda.fx.experimental._expressions import constant, symbol
from taeda.fx.experimental.symbolic_shapes import (
    CallMethodKey,
    ConvertIntKey,
    DivideByKey,
    InnerTensorKey,
    PendingUnbackedSymbolNotFound,
    PropagateUnbackedSymInts,
    ShapeEnv,
    compute_unbacked_bindings,
    rebind_unbacked,
    resolve_unbacked_bindings,
    statically_known_true,
)
from taeda.utils._pytree import MappingKey, SequenceKey, key_get


@pytest.fixture
def env():
    return ShapeEnv()


def test_each_key_is_a_step():
    x = taeda.ones(2, 3)
    assert CallMethodKey("size").get(x) == (2, 3) and str(CallMethodKey("size")) == ".size()"
    assert InnerTensorKey("mT").get(x).shape == (3, 2) and str(InnerTensorKey("a")) == ".a"
    assert DivideByKey(4).get(9) == 2 and str(DivideByKey(4)) == ".__floordiv__(4)"
    assert [ConvertIntKey().get(b) for b in (True, False)] == [1, 0]
    assert str(ConvertIntKey()) == ".cast_bool_to_int()" and ConvertIntKey() == ConvertIntKey()


def test_a_bool_of_sizes_as_an_integer(env):
    flag = env.create_unbacked_symbool()
    assert str(ConvertIntKey().get(flag)) == "u0"
    n = env.create_symintnode(env.create_symbol(6, "x"))
    assert ConvertIntKey().get(n > 3) == 1 and env.format_guards() == " - s0 > 3"


def test_bindings_lead_to_the_symbols(env):
    u, f, b = (
        env.create_unbacked_symint(), env.create_unbacked_symfloat(), env.create_unbacked_symbool()
    )  # fmt: skip
    result = [taeda.ones(2), {"rows": u * 4}, (f, b, u)]
    first = compute_unbacked_bindings(env, result, peek=True)
    assert first == {
        u.expr: (SequenceKey(1), MappingKey("rows"), DivideByKey(4)),
        f.expr: (SequenceKey(2), SequenceKey(0)),
        symbol("u1"): (SequenceKey(2), SequenceKey(1), ConvertIntKey()),
    }
    assert [str(key_get(result, path)) for path in first.values()] == ["u0", "zuf0", "u1"]
    assert compute_unbacked_bindings(env, result) == first
    assert compute_unbacked_bindings(env, result) is None  # they are no longer new
    assert compute_unbacked_bindings(None, result) is None


def test_a_symbol_that_no_result_tells(env):
    u, v = env.create_unbacked_symint(), env.create_unbacked_symint()
    with pytest.raises(PendingUnbackedSymbolNotFound, match="u1: only data decide"):
        compute_unbacked_bindings(env, [u, u + v, u * v])


class Ragged(taeda.Tensor):
    """Tells its rows as a size that data decide."""

    def size(self, dim=None):
        return (self.rows, 2)

    def __tensor_flatten__(self):
        return ["inner"], None


def test_sizes_of_tensors_and_of_those_they_hold(env):
    x = taeda.ones(3, 2).as_subclass(Ragged)
    x.rows, x.inner = 3, taeda.ones(3, 2).as_subclass(Ragged)
    x.inner.rows, x.inner.inner = env.create_unbacked_symint(), taeda.ones(1)
    (path,) = compute_unbacked_bindings(env, x).values()
    assert path == (InnerTensorKey("inner"), CallMethodKey("size"), SequenceKey(0))
    assert key_get(x, path) is x.inner.rows


def test_a_second_trace_speaks_of_the_symbols_of_the_first(env):
    old = env.create_unbacked_symint()
    bindings = compute_unbacked_bindings(env, [old])
    env.defer_runtime_assert((old > 4).relation, "rows")
    new = env.create_unbacked_symint()
    found = compute_unbacked_bindings(env, [new], old_example_value=[old])
    assert found == bindings and env.unbacked_renamings == {"u1": "u0"}
    assert statically_known_true(new > 4) and statically_known_true(new == old)
    assert resolve_unbacked_bindings(env, {new.expr: (SequenceKey(0),)}) == bindings
    assert resolve_unbacked_bindings(env, None) is None


def _node(bindings):
    graph = fx.Graph()
    node = graph.call_function(len, ())
    node.meta["unbacked_bindings"] = bindings
    return node


def test_a_node_that_ran_again(env):
    old, flag = env.create_unbacked_symint(), env.create_unbacked_symbool()
    node = _node(compute_unbacked_bindings(env, [old, flag]))
    new = env.create_unbacked_symint()
    rebind_unbacked(env, node, [new, True])
    assert env.replace((new + 1).expr) == (old + 1).expr and bool(flag)
    assert env.pending_fresh_unbacked_symbols == [] and env.guards == []
    rebind_unbacked(env, node, [8, True])
    assert statically_known_true(new == 8) and int(old) == 8
    rebind_unbacked(env, _node(None), 3)
    with pytest.raises(ValueError, match=r"len_1\[0\] is 9 now, and 8 is in"):
        rebind_unbacked(env, _node({constant(8): (SequenceKey(0),)}), [9])
    with pytest.raises(ValueError, match="there is no ShapeEnv"):
        rebind_unbacked(None, node, [8, True])


def test_an_interpreter_gives_old_names(env):
    def rows(x):
        return [env.create_unbacked_symint(), x]

    graph = fx.Graph()
    x = graph.placeholder("x")
    made = graph.call_function(rows, (x,))
    first = graph.call_function(lambda pair: pair[0] + 1, (made,))
    graph.output(first)
    gm = fx.GraphModule(taeda.nn.Module(), graph)
    made.meta["unbacked_bindings"] = compute_unbacked_bindings(env, rows(None))
    again = PropagateUnbackedSymInts(gm).run(taeda.ones(2))
    assert str(env.replace(again.expr)) == "u0 + 1" and env.unbacked_renamings == {"u1": "u0"}
