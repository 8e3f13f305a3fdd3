"""Trees of arguments as text."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from taeda.export._pt2._trees import spec_of, text_of_spec
from taeda.utils._pytree import tree_flatten

TREES = [0, (0,), [0, (0, [])], {"b": 0, "a": [0, {1: 0}]}, ((0, 0), {})]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_there_and_back(tree):
    spec = tree_flatten(tree)[1]
    assert spec_of(text_of_spec(spec)) == spec


def test_classes_have_no_place():
    with pytest.raises(NotImplementedError, match="OrderedDict"):
        text_of_spec(tree_flatten(OrderedDict(a=1))[1])


@pytest.mark.parametrize(
    "text",
    ["", "[]", "[2, {}]", "[1, 3]", None, '[1, {"type": "os.system", "children_spec": []}]',
     '[1, {"type": "builtins.dict", "context": "[1]", "children_spec": []}]'],
)  # fmt: skip
def test_text_that_is_no_tree(text):
    with pytest.raises(RuntimeError, match=r"tree|class|keys"):
        spec_of(text)
