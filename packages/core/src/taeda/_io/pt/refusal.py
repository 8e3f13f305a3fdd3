"""What to say about a name that is not known: what the file wants, and what to do."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from .. import refusals, safetypes
from . import names
from .errors import RefusedPickle

__all__ = ["blocked", "unknown_names"]


_LONG = 1 << 20  # looking through a pickle in Python takes a second for some megabytes


def unknown_names(data: bytes) -> list[str]:
    """The names "module.name" that a pickle asks for and that stand for nothing here, in order, each once.

    The instructions are only looked through: nothing is made of them.
    """
    try:
        asked = list(names_asked(data))
    except (ValueError, struct.error, IndexError) as error:
        raise RefusedPickle(f"the pickle is damaged: {error}") from None
    return list(
        dict.fromkeys(
            f"{names.present(m)}.{n}"
            for m, n in asked
            if names.find(m, n) is None and safetypes.type_named(f"{m}.{n}") is None
        )
    )


def names_asked(data: bytes) -> Iterator[tuple[str, str]]:
    """Module and name of each GLOBAL, INST and STACK_GLOBAL; for the last, the two texts before it."""
    import pickletools  # large, and rarely wanted

    texts: list[str] = []
    memo: list[str] = []
    argument: Any  # what an instruction has with it: of any kind
    for code, argument, _ in pickletools.genops(data):
        if code.name in ("GLOBAL", "INST"):
            module, _, name = argument.partition(" ")
            yield module, name
        elif code.name == "STACK_GLOBAL" and len(texts) > 1:
            yield texts[-2], texts[-1]
        elif code.name in ("MEMOIZE", "BINPUT", "LONG_BINPUT"):
            memo.append(texts[-1] if texts else "")
        elif code.name in ("BINGET", "LONG_BINGET"):
            texts.append(memo[argument])
        elif isinstance(argument, str):
            texts.append(argument)
        texts = texts[-2:]


def _strange(data: bytes) -> list[str]:
    """The names in a pickle that nobody allowed; nothing if it cannot be looked through, or is long."""
    try:
        return unknown_names(data) if len(data) < _LONG else []
    except RefusedPickle:  # damaged further on: what is said stays true
        return []


def blocked(module: str, name: str, data: bytes) -> RefusedPickle:
    """The exception for a file that names `module.name`."""
    text = f"{names.present(module)}.{name}"
    if b"_parameters" in data and b"_modules" in data:
        return RefusedPickle(
            f"this file holds a whole module: {refusals.of_classes([text[:200], *_strange(data)])}"
        )
    return RefusedPickle(
        f"the file asks for {text!r:.200}, and files are read as data: nothing is imported or called. "
        "Save tensors, numbers, texts, and lists, tuples, sets and dicts of them; of an object of a "
        "class, its state_dict(). A class of plain fields can be allowed: import it and call "
        "taeda.serialization.add_safe_globals([the class])"
    )
