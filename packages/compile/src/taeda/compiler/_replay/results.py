"""What a run gives back, made of the outputs of its program."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

__all__ = ["Spent", "builder"]


class Spent:
    """In place of the node of a result whose graph a backward inside of the program has used up."""

    def __init__(self, example: Tensor) -> None:
        self.node = runtime.python_node(self, (_anchor,), 1)
        runtime.set_output_meta(self.node, 0, example.detach())

    def _run_backward(self, *gradients: Any) -> Any:
        raise RuntimeError(
            "Trying to backward through the graph a second time: the compiled program that gave "
            "this result went through it "
            "already. Call backward inside of the program with retain_graph=True if it is needed afterwards."
        )

    def _name(self) -> str:
        return "SpentBackward"

    def _release(self) -> None:
        """Nothing is kept."""


_anchor = taeda.zeros((), requires_grad=True)


def builder(spec: Any) -> Callable[[tuple[Any, ...]], Any]:
    """What makes the result of the outputs."""
    kind, rest = spec[0], spec[1]
    if kind == "slot":
        return lambda made: made[rest]
    if kind == "consumed":
        spent = spec[2]

        def found(made: tuple[Any, ...]) -> Any:
            runtime.set_history(spent.node, 0, made[rest])
            return made[rest]

        return found
    if kind == "grown":
        return lambda made: made[rest]
    if kind == "value":
        return lambda made: rest
    if kind in (dict, OrderedDict):
        parts = {k: builder(v) for k, v in rest.items()}
        return lambda made: kind((k, part(made)) for k, part in parts.items())
    if kind == "record":
        return _record_of(rest, {k: builder(v) for k, v in spec[2].items()})
    if kind == "named":
        fields = [builder(v) for v in spec[2]]
        return lambda made: rest(*(part(made) for part in fields))
    entries = [builder(v) for v in rest]
    return lambda made: kind(part(made) for part in entries)


def _record_of(kind: type, fields: dict[str, Any]) -> Callable[[tuple[Any, ...]], Any]:
    """What makes an object of a dataclass."""

    def made_of(made: tuple[Any, ...]) -> Any:
        value: Any = object.__new__(kind)
        vars(value).update((name, part(made)) for name, part in fields.items())
        return value

    return made_of
