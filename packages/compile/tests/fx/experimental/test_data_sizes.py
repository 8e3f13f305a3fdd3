"""What kernels give whose sizes data decide, without data."""

from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._data_sizes import (
    DataSizes,
    assert_scalar,
    blank_of,
    floats_to_try,
    item,
)
from taeda.fx.experimental._expressions import Relation, constant
from taeda.fx.experimental.sym_node import SymBool
from taeda.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv


def on_meta(*shape, dtype=taeda.float32):
    return taeda.empty(shape, dtype=dtype, device="meta")


X, MASK = taeda.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), taeda.tensor([[True, False, True]] * 2)
COUNTS = taeda.tensor([2, 0, 3], dtype=taeda.int32)


@pytest.mark.parametrize(
    ("op", "args", "wanted"),
    [
        ("nonzero", (X,), X.nonzero()),
        ("masked_select", (X, MASK[:, :2].repeat(1, 2)[:, :3]), None),
        ("index.Tensor", (X, [MASK]), X[MASK]),
        ("index.Tensor", (X, [None, MASK[0]]), X[:, MASK[0]]),
        ("index.Tensor", (X, [MASK[:, 0]]), X[MASK[:, 0]]),
        ("repeat_interleave.Tensor", (COUNTS,), taeda.repeat_interleave(COUNTS)),
        ("bincount", (COUNTS,), taeda.bincount(COUNTS)),
        ("bincount", (COUNTS, X[0]), taeda.bincount(COUNTS, X[0])),
        ("bincount", (COUNTS, COUNTS), taeda.bincount(COUNTS, COUNTS)),
    ],
)
def test_blank_of_is_of_the_kind_that_the_kernel_gives(op, args, wanted):
    def meta(value):
        if isinstance(value, list):
            return [meta(v) for v in value]
        return value if value is None else on_meta(*value.shape, dtype=value.dtype)

    last = args[1:] and isinstance(args[1], list) and args[1][0] is None
    size = 4 if wanted is None else wanted.shape[1 if last else 0]
    made = blank_of(op, tuple(map(meta, args)), size)
    if wanted is not None:
        assert (made.shape, made.dtype, made.stride()) == (
            wanted.shape, wanted.dtype, wanted.stride()
        )  # fmt: skip
    assert made.is_meta and blank_of("add.Tensor", (X, X), 2) is None


def test_a_mask_has_one_symbol_until_it_is_written():
    env = ShapeEnv()
    data, mask = DataSizes(env), taeda.tensor([True, False])
    first = data.symbol_of("nonzero", (mask,))
    assert data.symbol_of("masked_select", (mask, mask)) == first
    mask[0] = False
    assert data.symbol_of("nonzero", (mask,)) != first
    assert env.chosen == {"u0", "u1"} and env.var_to_val["u0"] != env.var_to_val["u1"]


def test_an_answer_is_asserted_and_never_guarded():
    env = ShapeEnv()
    number = DataSizes(env).number_in(taeda.tensor(3))
    asked = SymBool(Relation("<", number, constant(9)), env)
    with pytest.raises(GuardOnDataDependentSymNode, match=r"taeda\.cond"):
        bool(asked)
    assert_scalar(asked, "too many")
    assert not env.guards and env.deferred_runtime_asserts[0][1] == "too many"
    assert bool(asked)  # it is taken for granted now


def test_asserts_and_items_of_a_run():
    assert item(taeda.tensor([7])) == 7
    assert_scalar(True, "not said")
    with pytest.raises(RuntimeError, match="said"):
        assert_scalar(False, "said")


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("asked", [(False, False), (True, False), (True, True)])
def test_blanks_of_several_results(dim, asked):
    rows = [("_unique_consecutive", (X, *asked, dim))]
    rows += (
        [("_unique2", (X, True, *asked))]
        if dim is None
        else [("unique_dim", (X, dim, True, *asked))]
    )
    for row, args in rows:
        wanted = getattr(taeda.ops.aten, row).default(*args)
        size = wanted[0].shape[0 if dim is None else dim]
        made = blank_of(row, (on_meta(2, 3), *args[1:]), size)
        assert [(t.shape, t.dtype) for t in made] == [(t.shape, t.dtype) for t in wanted]


def test_floats_that_are_tried_are_apart():
    found = floats_to_try()
    assert len(set(found)) == len(found) > 20 and {f > 0 for f in found} == {True, False}
    assert sum(0 < f < 1 for f in found) > 5  # as operators want that take a share


def test_numbers_and_truths_are_told_apart():
    env = ShapeEnv()
    data = DataSizes(env)
    assert str(data.number_in(taeda.tensor(0.5))) == "zuf0"
    assert str(data.number_in(taeda.tensor(1), truth=True)) == "u0" and env.var_to_val["u0"] == 1
    assert str(data.number_in(taeda.tensor(3))) == "u1" and type(env.var_to_val["zuf0"]) is float
    least = env.var_to_val[data.symbol_of("bincount", (COUNTS, None, 500))]
    assert least > 500 and env.var_to_range["u2"].lower == 500
