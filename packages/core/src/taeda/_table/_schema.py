"""The field's schema language: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

One parser for the op table and for operators that users register. Knows nothing of kernels or Python objects.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field

__all__ = ["Argument", "Return", "Schema", "SchemaError", "parse_schema"]

BASE_TYPES = {
    "Tensor", "Scalar", "int", "SymInt", "float", "bool", "str", "ScalarType", "Layout", "Device",
    "MemoryFormat", "Generator",
}  # fmt: skip
_HEAD = re.compile(r"^\s*(?:(\w+)::)?(\w+)(?:\.(\w+))?\s*\((.*)\)\s*->\s*(.*?)\s*$", re.S)
_TYPE = re.compile(
    r"^(\w+)(\(([\w|*]+)(!?)(?:\s*->\s*[\w|*]+)?\))?(\?)?(\[(\d*)\])?(\(([\w|]+)(!?)\))?(\[\])?(\?)?$"
)


class SchemaError(ValueError):
    """A schema text that does not follow the grammar; the message names the piece."""


@dataclass(frozen=True)
class Argument:
    """One argument: `int[2] stride=1` has base "int", is_list True, length 2, default "1"."""

    name: str
    base: str
    is_list: bool = False
    length: int | None = None
    optional: bool = False  # the whole value may be None
    element_optional: bool = False  # Tensor?[]: entries may be None
    alias: str = ""
    mutated: bool = False
    keyword_only: bool = False
    default: object = field(default_factory=lambda: REQUIRED)
    declared: str = ""  # the type as it was written: "SymInt[2]"

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED

    @property
    def is_tensor(self) -> bool:
        return self.base == "Tensor"


@dataclass(frozen=True)
class Return:
    """One result; `alias` names the argument set whose memory it shares, `mutated` says it is that
    argument.
    """

    base: str
    name: str = ""
    is_list: bool = False
    alias: str = ""
    mutated: bool = False
    declared: str = ""
    optional: bool = False
    element_optional: bool = False


@dataclass(frozen=True)
class Schema:
    """A parsed schema; `qualified` is "add.Tensor"."""

    namespace: str
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @property
    def qualified(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name


class _Required:
    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()


def parse_schema(text: str) -> Schema:
    """Parse one schema; SchemaError says which piece is wrong.

    >>> parse_schema("relu(Tensor self) -> Tensor").arguments[0].name
    'self'
    """
    head = _HEAD.match(text)
    if head is None:
        raise SchemaError(f"not a schema: {text!r}; wanted 'name.overload(Type name, ...) -> Type'")
    namespace, name, overload, arguments, returns = head.groups()
    return Schema(
        namespace or "", name, overload or "", _arguments(arguments, text), _returns(returns, text)
    )


def split_commas(text: str) -> list[str]:
    """Split at commas outside brackets, quotes included in neither."""
    pieces, depth, current, quote = [], 0, "", ""
    for ch in text:
        if quote:
            quote = "" if ch == quote else quote
        elif ch in "\"'":
            quote = ch
        elif ch in "([":
            depth += 1
        elif ch in ")]":
            depth -= 1
        if ch == "," and depth == 0 and not quote:
            pieces.append(current.strip())
            current = ""
        else:
            current += ch
    return [*pieces, current.strip()] if current.strip() else pieces


def _arguments(text: str, whole: str) -> tuple[Argument, ...]:
    made: list[Argument] = []
    keyword_only = False
    for piece in split_commas(text):
        if piece == "*":
            if keyword_only:
                raise SchemaError(f"{whole!r} has two stars: all behind the first go by name")
            keyword_only = True
            continue
        declaration, equals, default = piece.partition("=")
        type_text, _, name = declaration.strip().rpartition(" ")
        if not type_text or not name.isidentifier():
            raise SchemaError(
                f"argument {piece!r} of {whole!r}: wanted 'Type name' or 'Type name=default'"
            )
        # "Tensor! x" is written, and shares its memory with no other argument
        type_text = re.sub(r"^Tensor!", f"Tensor(_{name}!)", type_text.strip())
        made.append(
            Argument(
                name=name,
                keyword_only=keyword_only,
                default=_default(default.strip(), whole) if equals else REQUIRED,
                **_type(type_text, whole),
            )
        )
    return tuple(made)


def _type(text: str, whole: str) -> dict:
    match = _TYPE.match(text)
    if match is None or match[1] not in BASE_TYPES:
        raise SchemaError(
            f"type {text!r} of {whole!r} is unknown; known: {', '.join(sorted(BASE_TYPES))}"
        )
    base, _, alias, bang, inner_optional, brackets, length, _, alias2, bang2, brackets2, outer = (
        match.groups()
    )
    if brackets and brackets2:
        raise SchemaError(f"type {text!r} of {whole!r}: a list of lists cannot be told")
    is_list = bool(brackets or brackets2)
    return {
        "base": "int" if base == "SymInt" else base,
        "is_list": is_list,
        "length": int(length) if length else None,
        "optional": bool(outer) or (bool(inner_optional) and not is_list),
        "element_optional": bool(inner_optional) and is_list,
        "alias": alias or alias2 or "",
        "mutated": bool(bang or bang2),
        "declared": text,
    }


_WORDS = {
    "None": None, "True": True, "False": False, "Mean": 1, "Sum": 2, "contiguous_format": "contiguous_format",
    "preserve_format": "preserve_format", "long": "int64",
}  # fmt: skip


def _default(text: str, whole: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if text.isidentifier():  # the name of a dtype or a layout
        return text
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise SchemaError(f"default {text!r} of {whole!r} is no constant") from None


def _returns(text: str, whole: str) -> tuple[Return, ...]:
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    made = []
    for piece in split_commas(text):
        type_text, _, name = piece.rpartition(" ") if " " in piece else (piece, "", "")
        facts = _type(type_text.strip(), whole)
        made.append(
            Return(
                facts["base"],
                name,
                facts["is_list"],
                facts["alias"],
                facts["mutated"],
                facts["declared"],
                facts["optional"],
                facts["element_optional"],
            )
        )
    return tuple(made)
