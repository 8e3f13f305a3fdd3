"""The calls of modules inside of a program whose arguments and results a file keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda._core_api.files import FormatError
from taeda._core_api.trees import TreeSpec

from .._module_calls import ModuleCallEntry, ModuleCallSignature
from ..graph_signature import ArgumentSpec
from ._stacks import CALL
from ._trees import spec_of

__all__ = ["check_arguments", "kept_calls"]

_MOST, _LONGEST = 100_000, 20_000


def check_arguments(spec: TreeSpec) -> None:
    """FormatError for a tree that is none of a call: arguments by position, and by name."""
    parts = spec.children()
    if spec.type is not tuple or [part.type for part in parts] != [tuple, dict]:
        raise FormatError("the arguments are no tuple and dict")


def kept_calls(entries: Any, argument: Callable[[Any], ArgumentSpec]) -> list[ModuleCallEntry]:
    """The entries behind the first one, which is the program's, that say how a module was called.
    `argument` reads one leaf.
    """
    made: list[ModuleCallEntry] = []
    if not isinstance(entries, list) or len(entries) > _MOST:
        raise FormatError(f"the calls of modules are a list of {_MOST} at most")
    for entry in entries[1:]:
        name, call = entry["fqn"], entry["signature"]
        if call is None:
            continue
        if not isinstance(name, str) or len(name) > _LONGEST or CALL.match(name) is None:
            raise FormatError(f"{name!r:.80} is no name of a module")
        signature = ModuleCallSignature(
            [argument(a) for a in call["inputs"]],
            [argument(a) for a in call["outputs"]],
            spec_of(call["in_spec"]),
            spec_of(call["out_spec"]),
        )
        check_arguments(signature.in_spec)
        counts = len(signature.inputs), len(signature.outputs)
        if (signature.in_spec.num_leaves, signature.out_spec.num_leaves) != counts:
            raise FormatError(
                f"the call of {name!r:.80} has another number of leaves than its tree"
            )
        if any(name == other.fqn for other in made):
            raise FormatError(f"the file has the call {name!r:.80} twice")
        made.append(ModuleCallEntry(name, signature))
    return made
