"""What to say about a name that is not known: what the file wants, and what to do."""

from __future__ import annotations

import re

from .errors import RefusedPickle

__all__ = ["blocked", "names_in"]

_GLOBAL = re.compile(rb"c([A-Za-z_][\w.]{0,200})\n([A-Za-z_][\w.]{0,200})\n")
_MOST = 10_000


def names_in(data: bytes) -> list[str]:
    """The names "module.name" that a pickle of protocol 2 or 3 seems to ask for, in order, each once."""
    found = (f"{m[1].decode()}.{m[2].decode()}" for m in _GLOBAL.finditer(data))
    return list(dict.fromkeys(name for _, name in zip(range(_MOST), found, strict=False)))


def blocked(module: str, name: str, data: bytes) -> RefusedPickle:
    """The exception for a file that names `module.name`."""
    text = f"{module}.{name}"
    if b"_parameters" in data and b"_modules" in data:
        return RefusedPickle(
            f"this file holds a whole module, of the class {text!r:.200}: loading one would run code. "
            "Save the numbers with `save(module.state_dict(), path)` where the class is, and load "
            "them into a module with `load_state_dict`"
        )
    return RefusedPickle(
        f"the file asks for {text!r:.200}, and files are read as data: nothing is imported or called. "
        "Save tensors, numbers, texts, and lists, tuples, sets and dicts of them; of an object of a "
        "class, its state_dict()"
    )
