"""Kept calls of modules in files."""

from __future__ import annotations

import json

import pytest

from taeda._core_api.files import FormatError
from taeda.export._pt2._calls import kept_calls
from taeda.export.graph_signature import TensorArgument

_LEAF = {"type": None, "context": None, "children_spec": []}


def _tree(kind, context, *parts):
    return {"type": f"builtins.{kind}", "context": context, "children_spec": list(parts)}


_IN = json.dumps([1, _tree("tuple", "null", _tree("tuple", "null", _LEAF), _tree("dict", "[]"))])
_OUT = json.dumps([1, _LEAF])


def entry(**other):
    call = {"inputs": ["x"], "outputs": ["y"], "in_spec": _IN, "out_spec": _OUT}
    name = other.pop("fqn", "part.0@1")
    return {"fqn": name, "signature": {**call, **other}}


def test_entries_are_read():
    root, unknown = {"fqn": "", "signature": None}, {"fqn": "b", "signature": None}
    (made,) = kept_calls([root, unknown, entry()], TensorArgument)
    assert made.fqn == "part.0@1"
    assert made.signature.inputs == [TensorArgument("x")] and made.signature.out_spec.is_leaf()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([{}, entry(fqn="a b")], "no name of a module"),
        ([{}, entry(fqn="")], "no name of a module"),
        ([{}, entry(), entry()], "twice"),
        ([{}, entry(inputs=["x", "y"])], "another number of leaves"),
        ([{}, entry(in_spec=_OUT)], "no tuple and dict"),
        ([{}] * 200_000, "a list of"),
        ("text", "a list of"),
    ],
)
def test_what_is_refused(entries, said):
    with pytest.raises(FormatError, match=said):
        kept_calls(entries, TensorArgument)
