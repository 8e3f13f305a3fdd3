"""The calls of modules that a node ran in, as text: `call,name,class`, the outermost first. The
call ends in `@k` from the second one of a module on; in some files the name does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from taeda._core_api.files import FormatError

__all__ = ["CALL", "stack_of", "text_of_stack"]

_ROOT = "L__self__"
_LONGEST, _DEEPEST = 20_000, 100
_NUMBER = re.compile(r"@(\d{1,9})\Z")
CALL = re.compile(r"((?:\w+\.)*\w+)(?:@(\d{1,9}))?\Z")


def text_of_stack(stack: Mapping[str, tuple[str, str]], root: str) -> str:
    """The text of `meta["nn_module_stack"]`, below the whole module, whose class is `root`."""
    entries = [f"{_ROOT},,{root}"]
    entries += [f"{_ROOT}.{call},{name},{kind}" for call, (name, kind) in stack.items()]
    return ";".join(entries)


def stack_of(text: Any) -> dict[str, tuple[str, str]]:
    """What a text says: (name, class) by the name of the call. FormatError for text that says nothing.

    >>> stack_of("L__self__,,Model;L__self___a@1,a,torch.nn.modules.linear.Linear")
    {'a@1': ('a', 'Linear')}
    """
    entries = text.split(";") if isinstance(text, str) and len(text) <= _LONGEST else []
    made = {}
    for entry in entries:
        parts = entry.split(",")
        if len(parts) != 3:
            raise FormatError(f"a node ran in {entry!r:.80}, which is no call of a module")
        if parts[1] == "":
            continue  # the whole program
        found = CALL.match(parts[1])
        if found is None:
            raise FormatError(f"{parts[1]!r:.80} is no name of a module")
        number = found[2] or (_NUMBER.search(parts[0]) or (None, None))[1]
        call = found[1] if number is None else f"{found[1]}@{number}"
        made[call] = (found[1], parts[2].rpartition(".")[2])
    if not entries or len(made) > _DEEPEST:
        raise FormatError(f"a node ran in {text!r:.80}, which is no call of modules")
    return made
