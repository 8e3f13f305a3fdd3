"""Fake kernels: calls on meta, and sizes that depend on data."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor, library

Library, custom_op = library.Library, library.custom_op


@pytest.fixture
def double():
    @custom_op("tlib::double", mutates_args=())
    def double(x: Tensor, times: float = 2.0) -> Tensor:
        """Twice x, or as often."""
        return x * times

    return double


def test_meta_calls_need_a_fake_kernel(double):
    x = taeda.empty(2, 3, device="meta")
    with pytest.raises(NotImplementedError, match=r'register_fake\("tlib::double"'):
        double(x)
    double.register_fake(lambda x, times: taeda.empty_like(x))
    made = double(x)
    assert made.is_meta
    assert made.shape == (2, 3)


def test_a_size_that_depends_on_data():
    @custom_op("tlib::nonzero", mutates_args=())
    def nonzero(x: Tensor) -> Tensor:
        return x.nonzero().clone()

    @library.register_fake("tlib::nonzero")
    def _(x):
        ctx = library.get_ctx()
        return x.new_empty(ctx.new_dynamic_size(), x.dim(), dtype=taeda.int64)

    assert library.get_ctx() is None
    with pytest.raises(RuntimeError, match="size that depends on data"):
        nonzero(taeda.empty(3, device="meta"))
    assert library.get_ctx() is None
    assert set(library.opcheck(nonzero, (taeda.tensor([0, 1, 2]),)).values()) == {"SUCCESS"}


def test_impl_abstract_is_the_earlier_name(double):
    with pytest.warns(FutureWarning, match="register_fake"):
        library.impl_abstract("tlib::double", lambda x, times: taeda.empty_like(x))
    assert double(taeda.ones(1, device="meta")).is_meta


def test_an_operator_that_only_writes_needs_no_fake_kernel():
    from taeda._library.low_level import scoped_library

    def added(x):
        x.add_(1)

    with scoped_library("only_writes", "FRAGMENT") as space:
        space.define("into(Tensor(a!) x) -> ()")
        space.impl("into", added, "CPU")
        x, y = taeda.zeros(2, device="meta"), taeda.zeros(2)
        assert taeda.ops.only_writes.into(x) is None
        assert taeda.ops.only_writes.into(y) is None
        assert y.tolist() == [1, 1]
        seen = []
        space.impl("into", seen.append, "Meta")
        taeda.ops.only_writes.into(x)
        assert len(seen) == 1
        space.define("count(Tensor x) -> ()")  # nothing is written, so it may do anything
        space.impl("count", lambda x: None, "CPU")
        with pytest.raises(NotImplementedError, match="no fake impl"):
            taeda.ops.only_writes.count(x)
