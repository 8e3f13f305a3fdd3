"""Gradients in a join, where some ranks have run out of inputs.

Those give zeros, also where the others' gradients begin with the last mean. So each other rank gives
the share of that mean which is missing.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

from taeda import Tensor

__all__ = ["Late"]


class Late:
    """What this rank's gradients held before others were added, and how many ranks have ended."""

    def __init__(self, params: Sequence[Tensor], touched: Collection[int]) -> None:
        self.params, self.touched = params, touched  # got a gradient since the last mean
        self.count = 0
        self.joins = self.cleared = False
        self.bases: dict[int, Tensor] = {}
        self._handles: list[Any] = []

    def tell(self, count: int, joins: bool) -> None:
        """Of the ranks of a join so many have run out of inputs."""
        changed, self.count, self.joins = joins != self.joins, count, joins
        if changed:
            self.watch()

    def watch(self) -> None:
        """Hear of gradients before they are added, in a join."""
        for handle in self._handles:
            handle.remove()
        me = weakref.ref(self)
        numbers = [n for n, param in enumerate(self.params) if self.joins and param.requires_grad]
        self._handles = [self.params[n].register_hook(_hook_of(me, n)) for n in numbers]

    def note(self, number: int) -> None:
        """A gradient is about to be added to what the parameter holds."""
        held = self.held(number)
        if number in self.touched:
            self.cleared |= held is None
        if held is None:
            self.bases.pop(number, None)
        elif number not in self.touched:
            self.bases[number] = held.clone()

    def held(self, number: int) -> Tensor | None:
        """The gradient, if it is more than zeros."""
        grad = self.params[number].grad
        return None if grad is None or not bool((grad.detach() != 0).any()) else grad.detach()

    def add_share(self, number: int, view: Tensor, size: int) -> None:
        """To what is reduced, for the ranks of `size` that lack it."""
        held = self.held(number)
        base = self.bases.get(number) if number in self.touched else held
        if held is not None and base is not None:
            base = base.clone() if base is held else base  # the view itself may be the gradient
            view.add_(base, alpha=self.count / (size - self.count))

    def look(self, number: int) -> None:
        """The gradient is about to be reduced, maybe in place: was it cleared since the last mean?"""
        self.cleared |= number in self.touched and self.held(number) is None

    def is_unclear(self) -> bool:
        """Would a rank that ended before a mean hold another part of it than this one?"""
        return self.cleared or bool(self.bases)

    def forget(self) -> None:
        """A mean was taken."""
        self.bases.clear()
        self.cleared = False

    def close(self) -> None:
        """Take the hooks off the parameters."""
        for handle in self._handles:
            handle.remove()


def _hook_of(late: weakref.ref[Late], number: int) -> Callable[[Tensor], None]:
    def before_gradient(_: Tensor) -> None:
        alive = late()
        if alive is not None:
            alive.note(number)

    return before_gradient
