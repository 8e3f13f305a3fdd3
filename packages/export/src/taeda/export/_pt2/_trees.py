"""Shapes of arguments and results as JSON text: tuples, lists and dicts of leaves."""

from __future__ import annotations

import json
from typing import Any

from taeda._core_api.files import FormatError
from taeda._core_api.trees import TreeSpec, tree_flatten

__all__ = ["spec_of", "text_of_spec"]

_KINDS = {tuple: "builtins.tuple", list: "builtins.list", dict: "builtins.dict"}
_DEEPEST = 100


def text_of_spec(spec: TreeSpec) -> str:
    """The text of a tree. NotImplementedError for one with classes of the user."""
    return json.dumps([1, _entry(spec)])


def _entry(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    kind = _KINDS.get(spec.type)
    if kind is None:
        raise NotImplementedError(
            f"save: arguments or results of class {getattr(spec.type, '__name__', spec.type)} have "
            "no place in a file yet: tuples, lists and dicts have"
        )
    context = "null"
    if spec.type is dict:
        if not all(type(key) in (str, int) for key in spec.context):
            raise NotImplementedError("save: keys of dicts are texts or integers in a file")
        context = json.dumps(list(spec.context))
    return {
        "type": kind,
        "context": context,
        "children_spec": [_entry(child) for child in spec.children()],
    }


def spec_of(text: Any) -> TreeSpec:
    """The tree of a text; FormatError for text that is none."""
    try:
        version, entry = json.loads(text)
        if version != 1:
            raise FormatError(f"a tree of version {version!r}: version 1 is read")
        return tree_flatten(_example(entry, _DEEPEST))[1]
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise FormatError(f"the shape of arguments or results is no tree: {error}") from None


def _example(entry: dict[str, Any], depth: int) -> Any:
    kind, children = entry["type"], entry["children_spec"]
    if depth == 0:
        raise ValueError("it is too deep")
    if kind is None:
        return 0
    parts = [_example(child, depth - 1) for child in children]
    if kind == "builtins.tuple":
        return tuple(parts)
    if kind == "builtins.list":
        return parts
    if kind == "builtins.dict":
        keys = json.loads(entry["context"])
        return dict(zip(keys, parts, strict=True))
    raise FormatError(f"the arguments or results have the class {kind!r:.80}, which is not read")
