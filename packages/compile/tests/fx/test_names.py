"""Names of nodes."""

from __future__ import annotations

from taeda import fx


def test_names_are_unique_stable_and_no_words_of_python():
    graph = fx.Graph()
    names = [graph.placeholder(n).name for n in ("x", "x", "x_1", "sum", "class", "3d", "taeda")]
    assert names == ["x", "x_1", "x_2", "sum_1", "class_1", "_3d", "taeda_1"]
