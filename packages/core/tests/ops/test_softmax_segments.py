"""Softmax of segments of rows: each has the bits that it has alone."""

from __future__ import annotations

import itertools

import pytest

import taeda
from taeda.testing import assert_close

EDGES = taeda.tensor([0, 3, 3, 4, 300, 1000])


def pieces(x, edges):
    return [x[:, a:b] for a, b in itertools.pairwise(edges.tolist()) if a < b]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("is_log", [False, True])
def test_segments(is_log, threads, dtype):
    taeda.manual_seed(0)
    x, grad = taeda.randn(2, 3, 1000, dtype=getattr(taeda, dtype))
    alone = taeda.log_softmax if is_log else taeda.softmax
    backward = taeda._log_softmax_backward_data if is_log else taeda._softmax_backward_data
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    try:
        made = taeda._segment_softmax(x, EDGES, is_log)
        back = taeda._segment_softmax_backward(grad, made, EDGES, is_log)
    finally:
        taeda.set_num_threads(before)
    assert taeda.equal(made, taeda.cat([alone(p, 1) for p in pieces(x, EDGES)], 1))
    each = zip(pieces(grad, EDGES), pieces(made, EDGES), strict=True)
    assert taeda.equal(back, taeda.cat([backward(g, y, 1, x.dtype) for g, y in each], 1))


def test_any_strides_and_none():
    x = taeda.arange(10.0).reshape(5, 2).t()
    made = taeda._segment_softmax(x, taeda.tensor([0, 2, 5]), False)
    assert_close(made.sum(1), taeda.full((2,), 2.0))
    assert taeda._segment_softmax(taeda.ones(0, 3), taeda.tensor([0, 3]), True).shape == (0, 3)
    assert taeda._segment_softmax(taeda.ones(2, 0), taeda.tensor([0]), True).shape == (2, 0)
    assert taeda._segment_softmax(x.to("meta"), EDGES.to("meta"), True).shape == (2, 5)


X = taeda.ones(2, 3)


@pytest.mark.parametrize("edges", [[0, 2], [1, 3], [0, 2, 1, 3], [0, 4, 3], [-1, 3], [0, -1, 3]])
def test_edges_that_do_not_rise_to_the_end(edges):
    with pytest.raises(RuntimeError, match="rise from 0 to the 3 columns"):
        taeda._segment_softmax(X, taeda.tensor(edges), False)


def test_refused():
    edges = taeda.tensor([0, 3])
    for given in [(X[0], edges), (X, edges[None]), (X, edges[:0])]:
        with pytest.raises(RuntimeError, match="matrices of one shape and edges"):
            taeda._segment_softmax(*given, False)
    with pytest.raises(RuntimeError, match="matrices of one shape and edges"):
        taeda._segment_softmax_backward(X, X[:, :2], edges, False)
    for given in [(X.half(), edges), (X, edges.int())]:
        with pytest.raises(NotImplementedError, match="float32 or float64 and edges of int64"):
            taeda._segment_softmax(*given, False)
