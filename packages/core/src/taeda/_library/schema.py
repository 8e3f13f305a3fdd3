"""A parsed schema as the core wants it, and as users look at it. Knows no operator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import taeda
from taeda._native import core as _core
from taeda._table._schema import Argument, Return, Schema, SchemaError

__all__ = ["FunctionSchema", "core_facts", "default_object", "format_schema", "split_name"]

# the field's numbers of dtypes, as defaults may name them
_DTYPE_NUMBERS = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
                  "complex32", "complex64", "complex128", "bool", "", "", "", "bfloat16")  # fmt: skip


def split_name(qualname: str) -> tuple[str, str]:
    """("mylib", "scale") of "mylib::scale"; ValueError for a name without namespace."""
    namespace, colons, name = qualname.partition("::")
    if not colons or not namespace or not name or "::" in name:
        raise ValueError(
            f'an operator\'s name looks like "namespace::name", for example "mylib::scale", got {qualname!r}'
        )
    return namespace, name


# ---- for the core ----


def core_facts(schema: Schema) -> tuple[tuple[Any, ...], tuple[Any, ...], bool]:
    """(parameters, results, is it a view?) as `core.define_op` takes them. SchemaError for what no
    call could mean.
    """
    _check(schema)
    parameters = tuple(_parameter(a) for a in schema.arguments)
    results = tuple(_result(r, schema) for r in schema.returns)
    return parameters, results, any(r.alias and not r.mutated for r in schema.returns)


def _check(schema: Schema) -> None:
    whole, names = format_schema(schema), [a.name for a in schema.arguments]
    if schema.name[:1].isdigit():
        raise SchemaError(f"{whole}: a name begins with a letter, not with a digit")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise SchemaError(f"{whole}: two arguments are called {double!r}")
    behind = ""  # the last positional argument with a default
    for a in schema.arguments:
        if behind and not a.keyword_only and not a.has_default:
            raise SchemaError(
                f"{whole}: argument {a.name!r} has no default and comes behind {behind!r}, which has one: "
                "give it one too, or put it before"
            )
        behind = a.name if a.has_default else behind
    sets = {(a.alias, a.mutated) for a in schema.arguments if a.alias}
    for number, r in enumerate(schema.returns):
        if r.mutated and (r.alias, True) not in sets:
            raise SchemaError(
                f"{whole}: result {number} is an argument that is written ({r.declared}), and no argument is "
                f"Tensor({r.alias}!)"
            )
        if r.alias and not r.mutated and r.alias not in {alias for alias, _ in sets}:
            raise SchemaError(
                f"{whole}: result {number} shares memory with an argument ({r.declared}), and no argument is "
                f"Tensor({r.alias})"
            )


def _parameter(a: Argument) -> tuple[str, int, int, int, Any]:
    facts = {"LIST": a.is_list, "OPTIONAL": a.optional, "ELEMENT_OPTIONAL": a.element_optional,
             "KEYWORD": a.keyword_only, "MUTATED": a.mutated, "DEFAULT": a.has_default}  # fmt: skip
    flags = sum(_core.param_flags[name] for name, on in facts.items() if on)
    default = default_object(a) if a.has_default else None
    return a.name, _core.param_types[a.base], flags, a.length or 0, default


def default_object(a: Argument) -> Any:
    """The default as a caller would write it."""
    value = a.default
    if a.base == "ScalarType" and isinstance(value, int):
        value = _DTYPE_NUMBERS[value] if 0 <= value < len(_DTYPE_NUMBERS) else ""
    if a.base in ("ScalarType", "Layout", "MemoryFormat") and isinstance(value, str):
        found = getattr(taeda, value, None)
        if found is None:
            raise SchemaError(f"argument {a.name!r}: there is no {a.base} named {value!r}")
        return found
    return value


def _result(r: Return, schema: Schema) -> tuple[int, int, int, str]:
    owners = (
        i for i, a in enumerate(schema.arguments) if r.mutated and a.mutated and a.alias == r.alias
    )
    facts = {
        "LIST": r.is_list,
        "OPTIONAL": r.optional,
        "ELEMENT_OPTIONAL": r.element_optional,
    }
    flags = sum(_core.param_flags[name] for name, on in facts.items() if on)
    return _core.param_types[r.base], flags, next(owners, -1), r.declared


# ---- for users ----


def format_schema(schema: Schema, head: str = "") -> str:
    """The text of a schema, without spaces that mean nothing; `head` replaces namespace, name and
    overload.
    """
    pieces = []
    for argument in schema.arguments:
        if argument.keyword_only and "*" not in pieces:
            pieces.append("*")
        shown = _shown(argument.default, argument.base == "str")
        default = f"={shown}" if argument.has_default else ""
        pieces.append(f"{argument.declared} {argument.name}{default}")
    returns = [f"{r.declared} {r.name}".strip() for r in schema.returns]
    result = returns[0] if len(returns) == 1 else f"({', '.join(returns)})"
    return f"{head or full_name(schema)}({', '.join(pieces)}) -> {result}"


def full_name(schema: Schema) -> str:
    """ "mylib::scale.overload"."""
    return f"{schema.namespace or 'aten'}::{schema.qualified}"


def _shown(value: Any, is_text: bool) -> str:
    if isinstance(value, str):
        # of a dtype, a layout
        name = not is_text and value.isidentifier() and hasattr(taeda, value)
        return value if name else f'"{value}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_shown(one, is_text) for one in value) + "]"
    return repr(value)


@dataclass(frozen=True)
class AliasInfo:
    """Which memory an argument or result belongs to, and whether it is written."""

    before_set: frozenset[str]
    is_write: bool


@dataclass(frozen=True)
class ArgumentInfo:
    """One argument of a schema, as users ask for it."""

    name: str
    type: str
    kwarg_only: bool
    default_value: Any
    has_default: bool
    alias_info: AliasInfo | None

    def has_default_value(self) -> bool:
        """Whether a call may leave it out."""
        return self.has_default


class FunctionSchema:
    """What users see of an operator's schema; `str` gives the text."""

    def __init__(self, schema: Schema) -> None:
        self.name = f"{schema.namespace or 'aten'}::{schema.name}"
        self.overload_name = schema.overload
        self.arguments = [_info(a) for a in schema.arguments]
        self.returns = [_info(r) for r in schema.returns]
        self._text = format_schema(schema)

    @property
    def is_mutable(self) -> bool:
        """Whether a call writes one of its arguments."""
        return any(a.alias_info is not None and a.alias_info.is_write for a in self.arguments)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def _info(entry: Argument | Return) -> ArgumentInfo:
    alias = AliasInfo(frozenset({entry.alias}), entry.mutated) if entry.alias else None
    if isinstance(entry, Return):
        return ArgumentInfo(entry.name, entry.declared, False, None, False, alias)
    default = entry.default if entry.has_default else None
    return ArgumentInfo(
        entry.name, _bare(entry.declared), entry.keyword_only, default, entry.has_default, alias
    )


def _bare(declared: str) -> str:
    """The type without its alias set: "Tensor(a!)?" is "Tensor?"."""
    before, paren, rest = declared.partition("(")
    return before + rest.partition(")")[2] if paren else declared
