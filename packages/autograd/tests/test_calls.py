"""One call as forward mode sees it: its arguments, its tangents, and what its rule says."""

from __future__ import annotations

import taeda
from taeda.autograd._calls import facts
from taeda.autograd.rules import _registry

taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all


def test_every_rule_gives_a_way_for_tangents():
    ways = {facts(name).way for name in _registry.rules}
    assert ways == {"linear", "multilinear", "formula", "pointwise", "transposed"}
