from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import fx
from taeda.fx.experimental.proxy_tensor import make_fx


def branching(x):
    return x * 2 if x.shape[0] > 4 else x - 1


def traced(f, *args):
    return make_fx(f, tracing_mode="symbolic")(*args)


def test_a_call_for_which_a_guard_does_not_hold():
    """The other branch is not in the graph, so the graph would be wrong."""
    gm = traced(branching, taeda.ones(6))
    assert gm(taeda.ones(9)).equal(branching(taeda.ones(9)))
    with pytest.raises(
        RuntimeError, match=r"\[3\]: s0 > 4 does not hold\. Trace the function again"
    ):
        gm(taeda.ones(3))


def test_sizes_that_were_equal_and_sizes_that_broadcast():
    gm = traced(lambda x, y: x + y, taeda.ones(3), taeda.ones(3))
    assert gm(taeda.ones(5), taeda.ones(5)).tolist() == [2.0] * 5
    with pytest.raises(RuntimeError, match="s0 is 3 in one place and 5 in another"):
        gm(taeda.ones(3), taeda.ones(5))
    with pytest.raises(RuntimeError, match="sizes of 0 and 1 have traces of their own"):
        gm(taeda.ones(1), taeda.ones(1))
    with pytest.raises(RuntimeError, match="wanted 1 dimensions, got 2"):
        gm(taeda.ones(3, 3), taeda.ones(3))


def test_a_size_that_the_program_fixed():
    gm = traced(lambda x: x.view(int(x.shape[0]), -1) * x.shape[0], taeda.ones(4, 2))
    assert gm(taeda.ones(4, 5)).shape == (4, 5)
    with pytest.raises(RuntimeError, match="Trace the function again"):
        gm(taeda.ones(5, 4))


def test_arguments_in_trees():
    gm = traced(lambda d: branching(d["a"]) + d["b"][0], {"a": taeda.ones(6), "b": [taeda.ones(6)]})
    assert gm({"a": taeda.ones(7), "b": [taeda.ones(7)]}).shape == (7,)
    with pytest.raises(RuntimeError, match="s0 > 4"):
        gm({"a": taeda.ones(2), "b": [taeda.ones(2)]})


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_know_their_sizes(again):
    gm = again(traced(branching, taeda.ones(6)))
    assert gm(taeda.ones(5)).tolist() == [2.0] * 5
    with pytest.raises(RuntimeError, match="s0 > 4"):
        gm(taeda.ones(4))


def test_it_is_traced_like_any_module():
    outer = fx.symbolic_trace(traced(branching, taeda.ones(6)))
    assert outer(taeda.ones(5)).tolist() == [2.0] * 5
