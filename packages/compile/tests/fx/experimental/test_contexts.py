from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._contexts import (
    DimDynamic,
    EqualityConstraint,
    RelaxedUnspecConstraint,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
    SubclassSymbolicContext,
)
from taeda.fx.experimental._expressions import constant
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.experimental.symbolic_shapes import ConstraintViolationError, ShapeEnv

DYNAMIC, STATIC = DimDynamic.DYNAMIC, DimDynamic.STATIC


def test_defaults_are_filled_and_lengths_compared():
    made = StatelessSymbolicContext([DYNAMIC, STATIC])
    assert made.dynamic_strides == [DimDynamic.INFER_STRIDE] * 2
    assert made.constraint_sizes == made.constraint_strides == [None, None]
    with pytest.raises(ValueError, match="constraint_sizes has 1 entries, and dynamic_sizes has 2"):
        StatelessSymbolicContext([DYNAMIC, STATIC], constraint_sizes=[None])
    with pytest.raises(TypeError, match="wanted DimDynamic, got str: 'dynamic'"):
        StatelessSymbolicContext(["dynamic"])


def test_demands_on_equal_sizes():
    doubled = ("y.size(0)", "x.size(0)", lambda size: size * constant(2))
    made = EqualityConstraint(False, [("x.size(0)", "z.size(1)")], [doubled])
    assert made.is_equal("z.size(1)", "x.size(0)") and not made.is_equal("x.size(0)", "y.size(0)")
    assert made.is_derived("y.size(0)", "z.size(1)", lambda size: size + size)
    assert not made.is_derived("y.size(0)", "z.size(1)", lambda size: size + constant(2))
    assert not made.is_derived("x.size(0)", "y.size(0)", lambda size: size + size)


def test_demands_that_the_size_itself_breaks():
    env = ShapeEnv()
    for demanded, said in (
        (StrictMinMaxConstraint(False, ValueRanges(2, 4)), r"2 <= x <= 4, and it is 6"),
        (RelaxedUnspecConstraint(False), "x is not one number only, and it is 6"),
    ):
        kind = STATIC if isinstance(demanded, RelaxedUnspecConstraint) else DYNAMIC
        with pytest.raises(ConstraintViolationError, match=said):
            env.create_symbol(6, "x", kind, demanded)
    assert env.var_to_val == {}


class Pair:
    """A tensor's stand-in that holds another."""

    def __init__(self) -> None:
        self.inner = taeda.ones(3, 7)
        self.outer = taeda.ones(4, 5)

    def __getattr__(self, name):
        return getattr(self.outer, name)


def test_tensors_inside_of_a_tensor_have_contexts_of_their_own():
    env = ShapeEnv()
    inner = StatefulSymbolicContext([STATIC, DYNAMIC], tensor_source="x.inner")
    outer = SubclassSymbolicContext(
        [DYNAMIC, STATIC], tensor_source="x", inner_contexts={"inner": inner}
    )
    sizes, _, _ = env.create_symbolic_sizes_strides_storage_offset(
        Pair(), "x", symbolic_context=outer
    )
    assert str(sizes) == "(s1, 5)" and env.var_to_sources["s0"] == ["x.inner.size(1)"]
    (known,) = inner.shape_env_to_source_to_symbol_cache.values()
    assert str(known["x.inner.size(1)"]) == "s0" and known["x.inner.size(0)"] == constant(3)
    other = ShapeEnv()
    again = other.create_symbolic_sizes_strides_storage_offset(Pair(), "x", symbolic_context=outer)
    assert str(again[0]) == "(s1, 5)" and other.var_to_val == {"s0": 7, "s1": 4}
