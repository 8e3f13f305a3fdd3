"""Names: of nodes, which are unique in their graph, and of functions, by which generated text finds them."""

from __future__ import annotations

import builtins
import importlib
import keyword
import operator
import re
import sys
from typing import Any

import taeda

__all__ = ["Namespace", "qualified_name", "resolve"]

_RESERVED = {"taeda", "torch", "inf", "nan", "NoneType", "device", "self", "_operator"}
_PLACES = (
    "taeda",
    "taeda.nn.functional",
    "taeda.linalg",
    "taeda.fft",
    "taeda.special",
    "taeda._C._nn",
)
_IN_PLACE = re.compile(r"i(add|sub|mul|truediv|floordiv|mod|pow|matmul|and|or|xor|lshift|rshift)")


def snake_case(text: str) -> str:
    """SomeName as some_name; what is not in camel case stays."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower() if not text.islower() else text


def candidate(op: str, target: Any) -> str:
    """What a node would like to be called. `x += y` is named as `x + y` is, as users of features by
    name expect.
    """
    if isinstance(target, str):
        text = target.replace(".", "_")
        return snake_case(text.strip("_") if op == "call_method" else text)
    name = getattr(target, "__name__", None) or type(target).__name__
    if getattr(operator, name, None) is target:
        found = _IN_PLACE.fullmatch(name.strip("_"))
        name = found[1] if found else name.strip("_")
        if keyword.iskeyword(name):
            return f"{name}_"  # and_, not_: as `operator` calls them
    return snake_case(name.strip("_") or name)


class Namespace:
    """Names that were given; every new one differs from them, from Python's own and from keywords."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, wanted: str) -> str:
        """`wanted` as an identifier, with a number where it is taken: add, add_1, add_2."""
        text = re.sub(r"[^0-9a-zA-Z_]+", "_", wanted) or "_unnamed"
        text = f"_{text}" if text[0].isdigit() else text
        found = re.fullmatch(r"(.*)_(\d+)", text)
        base, number = (found[1], int(found[2])) if found and found[1] else (text, None)
        name = text
        count = max(self._counts.get(base, 0), number or 0)
        while name in self._used or not _is_free(name):
            count += 1
            name = f"{base}_{count}"
        self._counts[base] = count
        self._used.add(name)
        return name

    def reserve(self, name: str) -> None:
        """Take a name as it is."""
        self._used.add(name)

    def copy(self) -> Namespace:
        """Another one in which the same names are taken."""
        made = Namespace()
        made._used, made._counts = set(self._used), dict(self._counts)
        return made


def _is_free(name: str) -> bool:
    return not (keyword.iskeyword(name) or hasattr(builtins, name) or name in _RESERVED)


# ---- functions ----


def resolve(path: str) -> Any:
    """The object behind "package.module.name"; AttributeError if there is none."""
    module, _, name = path.rpartition(".")
    while module:
        try:
            place: Any = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, head = module.rpartition(".")
            name = f"{head}.{name}"
            continue
        for part in name.split("."):
            place = getattr(place, part)
        return place
    return getattr(builtins, path)


def qualified_name(function: Any) -> str | None:
    """The dotted name under which the function is found again: taeda.relu, operator.add; None if it
    has none.
    """
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not name or not all(part.isidentifier() for part in name.split(".")):
        return None
    module = getattr(function, "__module__", None) or ""
    if getattr(operator, name, None) is function:
        return f"operator.{name}"
    if getattr(builtins, name, None) is function:
        return name
    for place in (*_PLACES, module):
        if place and _found(place, name) is function:
            return f"{place}.{name}"
    return None


def _found(place: str, name: str) -> Any:
    value: Any = sys.modules.get(place)
    if place.startswith("taeda.ops."):  # a namespace, which is no module
        value = getattr(taeda.ops, place.rpartition(".")[2], None)
    if value is None and place.startswith("taeda."):
        value = getattr(taeda, place.partition(".")[2], None) if place.count(".") == 1 else None
    for part in name.split("."):
        value = getattr(value, part, None)
    return value
