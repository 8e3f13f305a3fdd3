"""What kernels give whose sizes data decide, without data."""

from __future__ import annotations

import pytest

import taeda
from taeda.fx.experimental._data_sizes import DataSizes, assert_scalar, blank_of, item
from taeda.fx.experimental._expressions import Relation, constant
from taeda.fx.experimental.sym_node import SymBool
from taeda.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv


def on_meta(*shape, dtype=taeda.float32):
    return taeda.empty(shape, dtype=dtype, device="meta")


X, MASK = taeda.tensor([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]), taeda.tensor([[True, False, True]] * 2)


@pytest.mark.parametrize(
    ("op", "args", "wanted"),
    [
        ("nonzero", (X,), X.nonzero()),
        ("masked_select", (X, MASK[:, :2].repeat(1, 2)[:, :3]), None),
        ("index.Tensor", (X, [MASK]), X[MASK]),
        ("index.Tensor", (X, [None, MASK[0]]), X[:, MASK[0]]),
        ("index.Tensor", (X, [MASK[:, 0]]), X[MASK[:, 0]]),
    ],
)
def test_blank_of_is_of_the_kind_that_the_kernel_gives(op, args, wanted):
    def meta(value):
        if isinstance(value, list):
            return [meta(v) for v in value]
        return value if value is None else on_meta(*value.shape, dtype=value.dtype)

    size = 4 if wanted is None else wanted.shape[1 if args[1:] and args[1][0] is None else 0]
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
