"""Names that PyTorch has and taeda has not: what is said when somebody asks for one.

The names stand in `absent.txt`, which is read at the first miss; a name that exists must not stand
there (a test holds that, `tools/hold/absent.py` takes it out).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from taeda._parts.data import read

__all__ = ["answer", "message", "table"]


@cache
def table() -> dict[str, str]:
    """The reason of each absent name, by its full name."""
    found: dict[str, str] = {}
    reason = ""
    for line in read(__package__, "absent.txt").decode().splitlines():
        if not line.startswith(" "):
            reason = line
            continue
        place, _, names = line.strip().partition(": ")
        found.update({f"{place}.{name}": reason for name in names.split()})
    return found


def message(full: str) -> str | None:
    """The sentence about a name such as "taeda.onnx"; None if it is not known to be absent."""
    reason = table().get(full)
    return None if reason is None else f"{full} does not exist, though PyTorch has it. {reason}"


def answer(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module without one: AttributeError, with the sentence if there is one."""

    def get(name: str) -> Any:
        said = message(f"{module}.{name}") or message(module)
        raise AttributeError(
            said or f"module {module!r} has no attribute {name!r}",
            name=name,
            obj=sys.modules.get(module),
        )

    return get
