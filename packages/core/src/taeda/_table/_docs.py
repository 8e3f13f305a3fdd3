"""What `help` and `inspect.signature` say of an operation: written when core is built, from the
rows of its name and the meanings of their arguments.

The text of a function begins with its call in Python's grammar, which Python itself reads
(`__text_signature__`); then every overload with its types, the sentence of each, what every argument
means, and an example.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from keyword import iskeyword
from pathlib import Path
from typing import Any

from ._meanings import meaning, note
from ._row import Row
from ._schema import Argument

__all__ = ["text"]

_TYPES = {"Scalar": "number", "ScalarType": "dtype", "Layout": "layout", "Device": "device",
          "MemoryFormat": "memory_format",
          "SymInt": "int"}  # fmt: skip
#: types whose values have names, and no literals
_CONSTANTS = ("ScalarType", "Layout", "Device", "MemoryFormat")

#: what is not in the schema of any row
_ADDED = {
    "out": "a tensor that receives the result, of its dtype and shape (an empty one is resized), "
    "and is returned; None for a new one",
    "requires_grad": "whether the result's gradient is recorded; only for floats",
    "names": "of the dimensions: a str for each, or None for one without; None for no names",
}
_LINE = 96

_DTYPES = {
    "same": "The operands' dtypes are promoted; the result has the promoted one.",
    "float": "Integers and booleans are taken as the default floating-point dtype.",
    "compare": "The result is bool.",
    "bool": "The result is bool.",
    "real": "The result of complex numbers is real.",
    "first": "The result has the dtype of the input.",
}


def text(name: str, rows: Sequence[Row], *, method: bool, inplace: bool) -> str:
    """The documentation of a function, or of a method, under one of its names."""
    rows = [r for r in rows if ("method" if method else "function") in r.variants] or list(rows)
    calls = [_Call(row, method, inplace) for row in rows]
    signature = _merged(calls)
    parts = [f"{name}({signature})\n--\n"]
    parts.append("\n".join(f"{name}{call.typed()}" for call in calls))
    said = "\n".join(dict.fromkeys(row.doc for row in rows)) + _after(rows, inplace)
    if method and not inplace and not name.startswith("_") and _is_function(rows):
        said += f"\nThe function is taeda.{name}."
    parts.append(said if method else re.sub(r"\bself\b", "input", said))
    if arguments := _arguments(calls):
        parts.append(arguments)
    if not method and (example := _examples().get((rows[0].namespace, name))):
        parts.append(example)
    return "\n\n".join(parts).replace("\n--\n\n\n", "\n--\n\n")


def _is_function(rows: Sequence[Row]) -> bool:
    return any("function" in row.variants and not row.namespace for row in rows)


def _after(rows: Sequence[Row], inplace: bool) -> str:
    """What holds for all elementwise operations, and for views."""
    said = ""
    row = rows[0]
    if inplace:
        said += "\nIn place: the tensor itself is written and returned."
    if row.promotion != "none" and not inplace:
        many = sum(a.is_tensor for a in row.schema.arguments) > 1
        shape = "The shapes broadcast." if many else "The result has the input's shape."
        said += f"\n{shape} {_DTYPES[row.promotion]}"
    if row.view and not inplace:
        said += "\nThe result shares its memory with the input."
    for more in dict.fromkeys(note(row) for row in rows):
        said += more and "\n" + textwrap.fill(more, _LINE)
    return said


class _Call:
    """The parameters of one overload, as Python calls it."""

    def __init__(self, row: Row, method: bool, inplace: bool) -> None:
        self.row, self.method, self.inplace = row, method, inplace
        arguments = list(row.schema.arguments)
        self.has_self = method and bool(arguments) and arguments[0].name == "self"
        self.arguments = arguments[1:] if self.has_self else arguments
        self.out = "out" in row.variants and not method and not inplace
        self.variadic = _variadic(self.arguments)
        self.factory = "factory" in row.tags

    def parameters(self) -> list[tuple[str, str, str | None]]:
        """(name, kind, default), where the kind is "", "*" for those that take the rest, or "k" for
        keywords alone.
        """
        found: list[tuple[str, str, str | None]] = []
        keyword = False
        for argument in self.arguments:
            first = self.variadic and argument is self.arguments[0]
            keyword = keyword or argument.keyword_only
            default = _literal(argument) if argument.has_default else None
            kind = "*" if first else "k" if keyword else ""
            found.append((_name(argument), kind, None if first else default))
            keyword = keyword or bool(first)
        if self.out:
            found.append(("out", "k", "None"))
        if self.factory:
            found.append(("requires_grad", "k", "False"))
        if self.row.names == "make":
            found.append(("names", "k", "None"))
        return found

    def typed(self) -> str:
        """The overload with types and result."""
        shown, star = (["self"] if self.has_self else []), False
        for argument, (name, kind, default) in zip(
            [*self.arguments, None, None, None], self.parameters(), strict=False
        ):
            if kind == "k" and not star and not self.variadic:
                shown.append("*")
                star = True
            type_ = f": {_type(self.row, argument)}" if argument else ""
            given = "" if default is None else f" = {_shown_default(argument, default)}"
            shown.append(f"{'*' if kind == '*' else ''}{name}{type_}{given}")
        return f"({', '.join(shown)}) -> {_result(self.row)}"


def _name(argument: Argument) -> str:
    name = {"self": "input"}.get(argument.name, argument.name)
    return f"{name}_" if iskeyword(name) else name


def _variadic(arguments: list[Argument]) -> bool:
    """Whether sizes may come one by one, as in `zeros(2, 3)`."""
    if not arguments or not all(a.keyword_only for a in arguments[1:]):
        return False
    first = arguments[0]
    sizes = first.base in ("int", "SymInt") and first.is_list and not first.length
    return sizes and not first.keyword_only and not first.has_default


def _literal(argument: Argument) -> str:
    """A default that Python can read without names; `...` stands for one that has no such form."""
    value = argument.default
    if argument.base == "float" and isinstance(value, str):
        value = float(value)
    if isinstance(value, float) and math.isinf(value):
        return "1e999" if value > 0 else "-1e999"
    if argument.base in _CONSTANTS and value is not None:
        return "None" if argument.optional else "..."  # None asks for the default too
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(repr, value))}]" if all(map(_plain, value)) else "..."
    return repr(value) if _plain(value) else "..."


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _type(row: Row, argument: Argument) -> str:
    kind = _TYPES.get(argument.base, argument.base)
    if argument.name in row.numbers:
        kind = "Tensor | number"
    if argument.is_list:
        kind = f"{kind} or list of {kind}" if argument.length else f"list of {kind}"
    return f"{kind} | None" if argument.optional else kind


def _result(row: Row) -> str:
    kinds = []
    for result in row.schema.returns:
        kind = _TYPES.get(result.base, result.base)
        kind = f"list of {kind}" if result.is_list else kind
        named = result.name and len(row.schema.returns) > 1
        kinds.append(f"{result.name}: {kind}" if named else kind)
    return kinds[0] if len(kinds) == 1 else f"({', '.join(kinds)})" if kinds else "None"


def _merged(calls: list[_Call]) -> str:
    """One signature for all overloads: what they share in its place; `*args` where their arguments
    differ in one place.
    """
    lists = [call.parameters() for call in calls]
    head = ["$self"] if calls[0].has_self else []
    positional = [[p for p in found if p[1] != "k"] for found in lists]
    longest = max(positional, key=len)
    agree = all(
        (mine[0], mine[1]) == (theirs[0], theirs[1])
        for found in positional
        for mine, theirs in zip(found, longest, strict=False)
    )
    if not agree:
        shared = [_shown(p) for p in _common(positional)]
        return ", ".join([*head, *shared, "*args", "**kwargs"])
    shown, optional = list(head), False
    for place, (name, kind, default) in enumerate(longest):
        everywhere = all(len(found) > place for found in positional)
        given = [found[place][2] for found in positional if len(found) > place]
        defaults = [one for one in given if one is not None]
        if not everywhere or optional or defaults:  # of several forms, the first one's
            default = defaults[0] if defaults else "None"
        optional = optional or (default is not None and kind != "*")
        shown.append(_shown((name, kind, None if kind == "*" else default)))
    keywords: dict[str, tuple[str, str, str | None]] = {}
    for found in lists:
        for parameter in found:
            if parameter[1] == "k" and parameter[0] not in {p[0] for p in longest}:
                keywords.setdefault(parameter[0], parameter)
    if keywords and not any(p[1] == "*" for p in longest):
        shown.append("*")
    for name, kind, default in keywords.values():
        everywhere = all(any(p[0] == name for p in found) for found in lists)
        shown.append(_shown((name, kind, default if everywhere or default is not None else "None")))
    return ", ".join(shown)


def _common(positional: list[list[tuple[str, str, str | None]]]) -> list[tuple[str, str, None]]:
    """The first parameters that all overloads have in the same place, required."""
    found: list[tuple[str, str, None]] = []
    for each in zip(*positional, strict=False):
        if len({(p[0], p[1]) for p in each}) != 1 or each[0][1] == "*" or any(p[2] for p in each):
            break
        found.append((each[0][0], "", None))
    return found


def _shown(parameter: tuple[str, str, str | None]) -> str:
    name, kind, default = parameter
    return f"{'*' if kind == '*' else ''}{name}" + ("" if default is None else f"={default}")


def _arguments(calls: list[_Call]) -> str:
    """The block `Args:`, an entry for each argument of any overload; the first one that has it says
    what it means, the first one with a default says that.
    """
    said: dict[str, str] = {}
    defaults: dict[str, str] = {}
    forms: Counter[str] = Counter()
    for call in calls:
        for argument, (name, _, default) in zip_longest(call.arguments, call.parameters()):
            said.setdefault(name, meaning(call.row, argument.name) if argument else _ADDED[name])
            if default is not None:
                defaults.setdefault(name, _shown_default(argument, default))
            forms[name] += 1
    entries = (
        _entry(name, text + _optional(text, defaults.get(name), forms[name] == len(calls)))
        for name, text in said.items()
    )
    return "\n".join(["Args:", *entries]) if said else ""


def _optional(text: str, default: str | None, everywhere: bool) -> str:
    """What is said of an argument that may be left out: a text may tell on its own what None means."""
    if default is None:
        return "" if everywhere else " (in some forms only)"
    return "" if default == "None" and re.search(r"\bNone\b", text) else f" (default: {default})"


def _entry(name: str, text: str) -> str:
    return textwrap.fill(
        f"{name}: {text}",
        _LINE,
        initial_indent=" " * 4,
        subsequent_indent=" " * 8,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _shown_default(argument: Argument | None, default: str) -> str:
    """A default as a user writes it."""
    if argument and argument.base in _CONSTANTS and argument.default is not None:
        return f"taeda.{argument.default}"
    return default.replace("1e999", "inf")


@cache
def _examples() -> dict[tuple[str, str], str]:
    """The calls of `_examples.txt` by namespace and name."""
    found: dict[tuple[str, str], str] = {}
    for block in (Path(__file__).parent / "_examples.txt").read_text().split("\n\n"):
        name, _, lines = block.strip().partition("\n")
        space, _, last = name.rpartition(".")
        found[space, last] = lines
    return found
