"""Shapes of arguments and results as JSON text: tuples, lists, dicts and dataclasses of leaves."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import taeda
from taeda._core_api.files import FormatError
from taeda._core_api.trees import LeafSpec, TreeSpec, class_serialized_as, serialized_name

__all__ = ["spec_of", "text_of_spec"]

_KINDS = {
    tuple: "builtins.tuple", list: "builtins.list", dict: "builtins.dict", taeda.Size: "torch.Size",
}  # fmt: skip
_ROWS: dict[Any, Any] = {_KINDS[kind]: kind for kind in (tuple, list, taeda.Size)}
_DEEPEST = 100


def text_of_spec(spec: TreeSpec) -> str:
    """The text of a tree. NotImplementedError for one with classes that have no name for files."""
    return json.dumps([1, _entry(spec)])


def _entry(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    cls: Any = spec.type
    named = is_dataclass(spec.type) and serialized_name(cls)
    kind = _KINDS.get(spec.type) or named
    if not kind:
        raise NotImplementedError(
            f"save: arguments or results of class {getattr(spec.type, '__name__', spec.type)} have "
            "no place in a file: tuples, lists, dicts have, and dataclasses that "
            "register_dataclass(..., serialized_type_name=...) gave a name"
        )
    context = json.dumps(spec.context) if named else "null"
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
        return _spec(entry, _DEEPEST)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise FormatError(f"the shape of arguments or results is no tree: {error}") from None


def _spec(entry: dict[str, Any], depth: int) -> TreeSpec:
    kind, children = entry["type"], entry["children_spec"]
    if depth == 0:
        raise ValueError("it is too deep")
    if kind is None:
        return LeafSpec()
    parts = [_spec(child, depth - 1) for child in children]
    if isinstance(kind, str) and kind in _ROWS:
        return TreeSpec(_ROWS[kind], None, parts)
    context = json.loads(entry["context"])
    if kind == "builtins.dict":
        if not _are_keys(context) or len(context) != len(parts):
            raise FormatError(f"a dict of {len(parts)} values has the keys {context!r:.80}")
        return TreeSpec(dict, context, parts)
    return _of_class(kind, context, parts)


def _are_keys(context: Any) -> bool:
    plain = isinstance(context, list) and all(type(key) in (str, int) for key in context)
    return plain and len(set(context)) == len(context)


def _of_class(name: Any, context: Any, parts: list[TreeSpec]) -> TreeSpec:
    """The tree of a dataclass. The class is one that this program registered, never one that the
    file brings, and the file says which of its fields are there and which are None.
    """
    kind = class_serialized_as(name)
    if kind is None or not is_dataclass(kind):
        raise FormatError(
            f"the arguments or results have the class {name!r:.80}, and no dataclass has this name: "
            "call register_dataclass(YourClass, serialized_type_name=...) before load"
        )
    there, gone = context
    own = {f.name for f in fields(kind) if f.init}
    if not _are_keys(there + gone) or not own.issuperset(there + gone) or len(there) != len(parts):
        raise FormatError(
            f"{name!r:.80} has the fields {sorted(own)}, and the file {context!r:.80}"
        )
    return TreeSpec(kind, context, parts)
