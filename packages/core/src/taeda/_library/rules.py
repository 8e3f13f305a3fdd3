"""What users register for one operator: kernels by device, a fake kernel, a derivative, dispatch rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import taeda
from taeda._layers.autocast import is_autocast_enabled, own_rules, set_autocast_enabled
from taeda._native import core as _core
from taeda._table._schema import Schema

from . import table
from .fake import as_meta_kernel
from .operators import overload
from .schema import format_schema

__all__ = [
    "AutogradRule",
    "device_slots",
    "set_autocast",
    "set_autograd",
    "set_dispatch",
    "set_fake",
    "set_vmap",
    "slot_of_device",
    "take_away",
]

Function = Callable[..., Any]

#: device types with a place for kernels; kernels for others are kept in `Entry.rules["kernels"]`
_SLOTS = ("cpu", "cuda", "meta")


def slot_of_device(device_type: str) -> str | None:
    """The slot of a device type; None for one that this core has no tensors of.
    RuntimeError for a word that names none.
    """
    taeda.device(device_type)  # raises, with the words that exist
    return device_type if device_type in _SLOTS else None


def device_slots(device_types: str | Sequence[str] | None, otherwise: str) -> list[str]:
    """Slots of some device types, or the one that stands for all."""
    if device_types is None:
        return [otherwise]
    types = [device_types] if isinstance(device_types, str) else list(device_types)
    for word in types:
        if not isinstance(word, str):
            raise ValueError(f"device types are strings such as 'cpu' and 'cuda', got {word!r}")
    slots = [slot_of_device(word) for word in types]
    return [slot for slot in slots if slot is not None]


def set_fake(qualname: str, function: Function) -> None:
    """Let calls on meta tensors run `function`."""
    table.set_rule(qualname, "fake", function)
    table.set_kernel(qualname, "meta", as_meta_kernel(qualname, function))


# ---- derivative ----


@dataclass(frozen=True)
class AutogradRule:
    """What taeda.autograd gets with each recorded call."""

    backward: Function
    setup_context: Function | None
    positional: int
    keywords: tuple[str, ...]
    node_name: str
    has_lists: bool  # a list of Tensors among arguments or results


def set_autograd(qualname: str, backward: Function, setup_context: Function | None) -> None:
    """Give an operator a derivative; AttributeError if it does not exist, RuntimeError if it writes
    its arguments.
    """
    op = overload(qualname)
    schema = op._parsed
    _check_differentiable(str(op), schema)
    keywords = tuple(a.name for a in schema.arguments if a.keyword_only)
    rule = AutogradRule(
        backward,
        setup_context,
        len(schema.arguments) - len(keywords),
        keywords,
        f"GeneratedBackwardFor_{op.namespace}_{schema.name}_{op._overloadname}Backward",
        any(a.is_tensor and a.is_list for a in schema.arguments)
        or any(r.base == "Tensor" and r.is_list for r in schema.returns),
    )
    table.set_rule(qualname, "autograd", rule)


def _check_differentiable(name: str, schema: Schema) -> None:
    if any(a.mutated for a in schema.arguments) or any(r.alias for r in schema.returns):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {name} with schema "
            f"{format_schema(schema)}. Please "
            "create a functional operator and register an autograd formula for that."
        )
    if any(a.is_tensor and a.keyword_only for a in schema.arguments):
        raise NotImplementedError(
            f"{format_schema(schema)}: a Tensor that is a keyword-only argument gets no gradient. "
            "Make it positional."
        )


# ---- vmap ----


def set_vmap(qualname: str, function: Function | None) -> None:
    """Let `function` compute the operator for all samples of a map; None takes the rule away."""
    table.set_rule(qualname, "vmap", function)


# ---- autocast ----


def set_autocast(qualname: str, device_type: str, cast_inputs: Any) -> None:
    """Let autocast on a device cast the operator's arguments to this type; None takes the rule away.

    RuntimeError for an operator that is built in, or writes its arguments.
    """
    op = overload(qualname)
    if "::" not in table.key(qualname) or any(a.mutated for a in op._parsed.arguments):
        raise RuntimeError(
            f"register_autocast: {op} is built in or writes its arguments; wanted an operator of "
            "your own that makes new tensors, as a cast argument is a copy"
        )
    key = table.key(qualname)
    known = dict(table.rule_of(qualname, "autocast") or {})
    known.pop(device_type, None)
    if cast_inputs is not None:
        known[device_type] = cast_inputs
    table.set_rule(qualname, "autocast", known or None)
    own_rules.pop(key, None)
    if known:
        own_rules[key] = known
    _core.set_cast(key, _core.casts["OWN" if known else "AS_GIVEN"])
    set_autocast_enabled("cuda", is_autocast_enabled("cuda"))  # calls come to the rule from now on


# ---- __torch_dispatch__ ----


def set_dispatch(qualname: str, kind: type, function: Function) -> None:
    """Call `function` instead of `kind.__torch_dispatch__` for this operator."""
    known = dict(table.rule_of(qualname, "torch_dispatch") or {})
    if kind in known:
        raise RuntimeError(f"{qualname} already has a `__torch_dispatch__` rule for {kind}")
    table.set_rule(qualname, "torch_dispatch", {**known, kind: function})


# ---- the end of a library ----


def take_away(qualname: str, layer: str, what: Any, rule: Any) -> None:
    """Take a rule away, unless a later one stands in its place or the operator is gone. `what` is the
    device type or the class of modes that it is for, None in layers that have one rule of an operator.
    """
    known = table.rule_of(qualname, layer)
    if (known if what is None else (known or {}).get(what)) is not rule:
        return
    if layer == "autocast":
        set_autocast(qualname, what, None)
    elif what is None:
        table.set_rule(qualname, layer, None)
    else:
        rest = {key: value for key, value in known.items() if key != what}
        table.set_rule(qualname, layer, rest or None)
