"""Passes over graph modules, and the leaves of trees of one form."""

import pytest

from taeda._torch_names.private_fx import PassBase, PassResult, tree_flatten_spec
from taeda.utils._pytree import tree_flatten


class Counts(PassBase):
    def __init__(self):
        self.said = []

    def requires(self, graph_module):
        self.said.append("before")

    def call(self, graph_module):
        return PassResult(graph_module, False)

    def ensures(self, graph_module):
        self.said.append("after")


def test_a_pass_looks_before_and_after():
    own = Counts()
    assert own("a module") == ("a module", False) and own.said == ["before", "after"]
    with pytest.raises(NotImplementedError, match=r"PassBase has no call\(\)"):
        PassBase()("a module")


def test_trees_of_another_form_are_refused():
    spec = tree_flatten([1, (2, 3)])[1]
    assert tree_flatten_spec([4, (5, 6)], spec) == [4, 5, 6]
    with pytest.raises(ValueError, match="has the form"):
        tree_flatten_spec([4, [5, 6]], spec)
