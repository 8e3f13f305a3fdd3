"""The operators that are defined at run time, and what was registered for each operator by layer.

A rule may be registered before its operator is defined; it waits here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from taeda._layers.autocast import own_rules
from taeda._layers.user_code import call_user
from taeda._native import core as _core
from taeda._table._schema import Schema, SchemaError, parse_schema

from .schema import core_facts, format_schema, full_name

__all__ = [
    "SLOTS",
    "Entry",
    "define",
    "entries",
    "entry",
    "forget",
    "is_defined",
    "overrides",
    "rule_of",
    "set_kernel",
    "set_rule",
]

Function = Callable[..., Any]

#: the places for kernels, and their numbers
SLOTS: dict[str, int] = _core.kernel_slots


@dataclass
class Entry:
    """One overload: its schema once it is defined, its kernels by slot, its rules by layer.

    `rules` holds what a layer asks for by its own name: "fake", "autograd", "torch_dispatch"; a
    layer that comes later (batching, automatic precision) adds a name and changes nothing here.
    """

    text: str  # "mylib::scale.overload"; built-in operators without "aten::"
    schema: Schema | None = None
    tags: tuple[Any, ...] = ()
    doc: str = ""
    kernels: dict[str, Function] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)


_entries: dict[str, Entry] = {}
#: "now" is another object after each registration for a row that was built in: guards ask for it
overrides: dict[str, object] = {"now": object()}
_listeners: list[Callable[[Schema], None]] = []  # told when an operator appears or goes


def key(qualname: str) -> str:
    """The name under which the core knows an operator: built-in ones have no namespace, "default"
    is no overload.
    """
    text = qualname.removeprefix("aten::")
    return text.removesuffix(".default")


def entry(qualname: str) -> Entry:
    """What is known of an operator; made empty if it is not defined yet."""
    text = key(qualname)
    return _entries.setdefault(text, Entry(text))


def entries() -> tuple[Entry, ...]:
    """All entries, defined or waiting."""
    return tuple(_entries.values())


def is_defined(qualname: str) -> bool:
    """Whether calls of the operator are possible: it has a schema, or is built in."""
    text = key(qualname)
    if "::" not in text:
        return text in builtin_texts()
    return text in _entries and _entries[text].schema is not None


def builtin_texts() -> set[str]:
    """The rows that were built in."""
    if not _builtin:
        _builtin.update(row[0] for row in _core.op_rows())
    return _builtin


_builtin: set[str] = set()


def define(
    text: str,
    *,
    tags: Sequence[Any] = (),
    strict: bool = False,
    doc: str = "",
    replace: bool = False,
) -> Entry:
    """Add an operator by its schema, which names its namespace.

    strict: a call checks that results share no memory with arguments. Raises SchemaError (a
    ValueError) for a text that is no schema, RuntimeError for a name that exists, unless `replace`
    says that the newer one holds.
    """
    schema = parse_schema(text)
    if not schema.namespace:
        raise SchemaError(f"{text!r} has no namespace; wanted 'namespace::name(...) -> ...'")
    made = entry(full_name(schema))
    if made.schema is not None and not replace:
        raise RuntimeError(
            f"Tried to register an operator ({format_schema(schema)}) with the same name and "
            "overload name multiple times: "
            f"{format_schema(made.schema)} is registered already"
        )
    if made.schema is not None:
        forget(made.text)
        made = entry(made.text)
    parameters, results, view = core_facts(schema)
    name = f"{schema.namespace}::{schema.name}"
    _core.define_op(made.text, name, schema.overload, parameters, results, strict, view)
    made.schema, made.tags, made.doc = schema, tuple(tags), doc
    _core.set_kernel(made.text, SLOTS["meta"], _unserved(made, "meta"))
    for slot, kernel in made.kernels.items():
        _core.set_kernel(made.text, SLOTS[slot], _placed(slot, kernel))
    _fall_back(made)
    _apply(made)
    _announce(schema)
    return made


def forget(qualname: str) -> None:
    """Take an operator and all that was registered for it away. Objects that call it keep working."""
    known = _entries.pop(key(qualname), None)
    if known is not None and known.schema is not None:
        own_rules.pop(known.text, None)
        _core.forget_op(known.text)
        _announce(known.schema)


def on_change(listener: Callable[[Schema], None]) -> None:
    """Call `listener(schema)` whenever an operator appears or goes."""
    _listeners.append(listener)


def _announce(schema: Schema) -> None:
    for listener in _listeners:
        listener(schema)


# ---- kernels and rules ----


def set_kernel(qualname: str, slot: str, kernel: Function | None) -> None:
    """Give an operator a kernel for a slot, or take it away."""
    known = entry(qualname)
    if kernel is None:
        known.kernels.pop(slot, None)
    else:
        known.kernels[slot] = kernel
    if kernel is None:
        kernel = _unserved(known, slot)
    _note_override(known)
    if is_defined(qualname):
        _core.set_kernel(known.text, SLOTS[slot], _placed(slot, kernel))
        _fall_back(known)


def _unserved(known: Entry, slot: str) -> Function | None:
    """What stands where no kernel is registered: an operator that only writes has nothing to do
    where there are no values.
    """
    schema = known.schema
    if slot != "meta" or schema is None or schema.returns:
        return None
    return _nothing if any(a.mutated for a in schema.arguments) else None


def _nothing(*args: Any, **kwargs: Any) -> None:
    """A kernel that writes nothing."""


def _placed(slot: str, kernel: Function | None) -> Function | None:
    """What the core gets: a composite is code of the program, which runs above the derivative."""
    if kernel is None or slot != "composite":
        return kernel
    return functools.partial(call_user, None, kernel)


_fallbacks: dict[str, Function] = {}


def set_fallback(slot: str, function: Function | None) -> None:
    """Serve operators without a kernel for a slot by `function(op, *args, **kwargs)`; None ends it."""
    _fallbacks.pop(slot, None)
    if function is not None:
        _fallbacks[slot] = function
    for known in entries():
        if known.schema is not None:
            if function is None and slot not in known.kernels:
                _core.set_kernel(known.text, SLOTS[slot], _unserved(known, slot))
            _fall_back(known)


def _fall_back(known: Entry) -> None:
    """Fill the places that no kernel of the operator itself serves."""
    if "::" not in known.text:
        return
    for slot, function in _fallbacks.items():
        served = {slot, "any", "composite", *(("memory",) if slot != "meta" else ())}
        own: Function | None = functools.partial(function, known.text)
        if served & known.kernels.keys():
            own = _unserved(known, slot)
        if slot not in known.kernels:
            _core.set_kernel(known.text, SLOTS[slot], own)


def set_rule(qualname: str, layer: str, rule: Any) -> None:
    """Register what a layer wants to know of an operator; None takes it away."""
    known = entry(qualname)
    _note_override(known)
    if rule is None:
        gone = known.rules.pop(layer, None)
        if layer == "autograd" and gone is not None and is_defined(known.text):
            _core.set_autograd(known.text, None)
    else:
        known.rules[layer] = rule
    _apply(known)


def _note_override(known: Entry) -> None:
    if "::" not in known.text:
        overrides["now"] = object()


def rule_of(qualname: str, layer: str) -> Any:
    """What was registered for a layer, or None."""
    known = _entries.get(key(qualname))
    return None if known is None else known.rules.get(layer)


def _apply(known: Entry) -> None:
    """Hand the rules that the core itself asks for to it."""
    if is_defined(known.text) and ("autograd" in known.rules or "::" in known.text):
        _core.set_autograd(known.text, known.rules.get("autograd"))
