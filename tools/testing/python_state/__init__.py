"""Programs that read state of Python: each idiom with each place where an object can be found.

A program is a text with a function `f(x, arg)`, and `change()`, which changes what `f` reads. It is
called three times, so that a compiled one is recorded, proved and run as a graph, then changed and
called again. `outcome` tells what came of it: results, and the state that is left.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import taeda

from .alone import EXTRA
from .head import HEAD
from .idioms import EXCHANGE, IDIOMS, Idiom
from .places import PLACES, Place

__all__ = [
    "EXTRA",
    "IDIOMS",
    "PLACES",
    "Idiom",
    "Place",
    "compile_text",
    "outcome",
    "programs",
    "text_of",
]


def programs() -> Iterator[tuple[str, str]]:
    """(name, text) of every idiom in every place."""
    for idiom, place in itertools.product(IDIOMS, PLACES):
        yield f"{idiom.name} in {place.name}", text_of(idiom, place)


def text_of(idiom: Idiom, place: Place) -> str:
    body = f"    {place.body}\n" if place.body else ""
    change = place.exchanged if idiom.change == EXCHANGE else idiom.change
    return (
        f"{HEAD}\n{idiom.made}\n{place.setup}\n{place.head}\n{body}"
        f"    o = {place.expression}\n    return {idiom.use}\n"
        f"def argument():\n    return {place.arg}\n"
        f"def change():\n    global OBJ, CFG, INNER, HOLD, got\n    {change or 'pass'}\n"
        f"def state():\n    return {idiom.state}\n"
    )


_count = itertools.count()


def outcome(text: str, compile: Callable[[Any], Any]) -> list[Any]:
    """What six calls give, with a change after three, and the state after each."""
    filename = f"<state of Python {next(_count)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = types.ModuleType("a_program")
    space = vars(module)
    sys.modules["a_program"] = module
    try:
        exec(compile_text(text, filename), space)
        f = compile(space["f"])
        found: list[Any] = []
        for number in range(6):
            if number == 3:
                space["change"]()
            x = taeda.arange(9.0).reshape(3, 3) + number
            try:
                result = f(x, space["argument"]())
                found.append(result.tolist() if isinstance(result, taeda.Tensor) else repr(result))
            except Exception as error:  # noqa: BLE001 - what it raises is what came of it
                found.append(f"{type(error).__name__}: {error}")
            found.append(repr(space["state"]()))
        return found
    finally:
        del linecache.cache[filename], sys.modules["a_program"]


def compile_text(text: str, filename: str) -> Any:
    return compile(text, filename, "exec")
