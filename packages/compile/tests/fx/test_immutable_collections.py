"""Arguments of nodes cannot be changed behind the graph."""

from __future__ import annotations

import pytest

import taeda
from taeda import fx


def test_arguments_cannot_be_changed_behind_the_graph():
    gm = fx.symbolic_trace(lambda x: taeda.cat([x, x], dim=0))
    node = gm.graph.find_nodes(op="call_function", target=taeda.cat)[0]
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.args[0].append(1)
    with pytest.raises(NotImplementedError, match="does not support mutation"):
        node.kwargs["dim"] = 1
