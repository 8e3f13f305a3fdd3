"""Tensors of one run of a program, with the history of another run of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime

from .ends import arrived

__all__ = ["relinked"]


def relinked(
    values: Sequence[Tensor], ends: Sequence[Tensor], behind: Sequence[Tensor]
) -> list[Tensor]:
    """The `values`, which were computed from the `ends`, with a history that goes on at those
    `behind` them instead, as often as it is differentiated.
    """
    places = [n for n, value in enumerate(values) if value.requires_grad]
    found = list(values)
    if not places:
        return found
    link = _Link([values[n] for n in places], ends, behind)
    node = runtime.python_node(link, tuple(link.behind), len(places))
    for number, place in enumerate(places):
        found[place] = values[place].detach()
        runtime.set_history(node, number, found[place])
    return found


class _Link:
    """The node of relinked tensors."""

    def __init__(
        self, values: list[Tensor], ends: Sequence[Tensor], behind: Sequence[Tensor]
    ) -> None:
        pairs: dict[Any, tuple[Tensor, Tensor]] = {}
        for end, other in zip(ends, behind, strict=True):
            if end.requires_grad:  # a tensor may be there twice
                pairs.setdefault(runtime.gradient_edge(end), (end, other))
        self.values = values
        self.ends = [end for end, _ in pairs.values()]
        self.behind = [other for _, other in pairs.values()]

    def _name(self) -> str:
        return "CompiledBackward"

    def _release(self) -> None:
        """The history of the values says by itself whether it can be walked once more."""

    def _run_backward(self, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        values = [v for v, g in zip(self.values, gradients, strict=True) if g is not None]
        given = [g for g in gradients if g is not None]
        again = taeda.is_grad_enabled()
        came = arrived(values, self.ends, given, apart=False, create_graph=again)
        found = [some[0] if some else None for some in came]
        if not again:
            return tuple(found)
        made = iter(
            relinked(
                [g for g in found if g is not None],
                [*self.ends, *given],
                [*self.behind, *given],
            )
        )
        return tuple(None if g is None else next(made) for g in found)
