"""Counts of writes into what tensors of other layouts keep. Packages of those test their graphs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import taeda
from taeda._layers.written import Source, check_source, check_writes, version_of, writes


def test_writes_are_counted():
    x, y = taeda.zeros(2), taeda.zeros(3)
    counted = writes([x, y])
    check_writes([("x", x), ("y", y)], counted)
    y.view(3).add_(1)
    with pytest.raises(
        RuntimeError, match=r"inplace operation: the y of .*\[3\], is at version 1; exp"
    ):
        check_writes([("x", x), ("y", y)], counted)


def test_inference_tensors_count_none():
    with taeda.inference_mode():
        x = taeda.zeros(2)
    assert version_of(x) == -1


def test_a_source_bears_writes_without_a_graph():
    x = taeda.zeros(2)
    parts = SimpleNamespace(source=Source(x))
    x.add_(1)
    check_source(SimpleNamespace(is_leaf=False), parts)
    check_source(SimpleNamespace(is_leaf=False), SimpleNamespace())


def test_a_source_refuses_a_write_with_one():
    class Written(SimpleNamespace):
        _base = None
        _version = 0
        grad_fn = object()

        def is_inference(self):
            return False

    x = Written()
    parts = SimpleNamespace(source=Source(x))
    x._version, x.grad_fn = 1, object()
    check_source(SimpleNamespace(is_leaf=True), parts)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        check_source(SimpleNamespace(is_leaf=False), parts)
