"""What a transform differentiates by, and what leaves it.

Inputs get objects of their own: a new leaf, or a step in the callers' graph where they are in one.
What is computed from new leaves alone is cut off when it leaves; what somebody else's leaf takes
part in keeps its graph, so transforms nest and outer backwards go through.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import DUAL
from taeda.autograd._places import without_graph
from taeda.autograd._regions import kept
from taeda.autograd.batching import on_levels, physical, rewrapped, standing, unwrapped

from . import _tree

__all__ = ["Level", "deriving", "left_inference"]


@contextmanager
def deriving(recorded: bool) -> Iterator[None]:
    """Derivatives are computed, whatever the caller has switched off: a derivative of a transform is a
    value like others. `inference_mode` is left, and what was made in it, now or before, is saved as a copy;
    tangents are no longer hidden, as they are in `Function.forward`; in a checkpoint all is kept. `recorded`:
    are operations recorded?
    """
    with _core.Switches(grad=recorded, inference=False, show=DUAL), kept():
        copied = _core._set_copies_inference(True)
        try:
            yield
        finally:
            _core._set_copies_inference(copied)


def left_inference(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose own tensors may take part in graphs where the caller is in inference mode."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not taeda.is_inference_mode_enabled():
            return function(*args, **kwargs)
        with deriving(False):
            return function(*args, **kwargs)

    return wrapper


class Level:
    """One transform at work; a context in which operations are recorded."""

    def __init__(self) -> None:
        self.recorded = taeda.is_grad_enabled()  # by the callers
        # a leaf has a sample of its own in each, so that its gradient has
        self.maps = standing()
        self.at_work = 0  # how often it was entered, and not left
        self._own: list[Tensor] = []
        self._entered: list[tuple[Tensor, int]] = []

    def __enter__(self) -> Level:
        self._mode = deriving(True)
        self._mode.__enter__()
        self.at_work += 1
        return self

    def __exit__(self, *unused: object) -> None:
        self.at_work -= 1
        self._mode.__exit__(None, None, None)

    def enter(self, tree: Any) -> Any:
        """The same tensors, as objects to differentiate by."""
        return _tree.mapped(self._enter, tree)

    def _enter(self, x: Any) -> Tensor:
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(
                f"only Tensors of floating point and complex dtype can require gradients, got {x.dtype}"
            )
        plain, numbers = unwrapped(on_levels(x, self.maps))
        if self.recorded and plain.requires_grad:
            made = taeda.alias(plain)
        else:
            made = without_graph(plain).requires_grad_()
            self.owns([made])
        self._entered.append((made, made._version))
        return rewrapped(made, numbers)

    def owns(self, leaves: list[Tensor]) -> None:
        """Nobody else differentiates by these, or only while this level is at work."""
        for leaf in leaves:
            leaf.level_of_transform = weakref.ref(self)  # type: ignore[attr-defined]
        self._own += leaves

    def plain(self, x: Tensor) -> Tensor:
        """All samples of all maps of `x`, as the graph knows them."""
        made: Tensor = physical(on_levels(x, self.maps))
        return made

    def mapped(self, x: Tensor) -> Tensor:
        """The inverse of `plain`."""
        made: Tensor = rewrapped(x, [one.number for one in reversed(self.maps)])
        return made

    def check_unwritten(self) -> None:
        """RuntimeError if the function wrote into what it was given, or cut it off: its gradient is 0."""
        if not all(x.requires_grad for x, _ in self._entered):
            raise RuntimeError(
                "the function called requires_grad_(False) on one of its inputs, which is what a "
                "transform differentiates by: use x.detach() inside of it"
            )
        if any(x._version != version for x, version in self._entered):
            raise RuntimeError(
                "the function wrote in place into one of its inputs, which is not allowed in a "
                "transform: clone() it first"
            )

    def is_watched(self, tensors: Iterable[Tensor]) -> bool:
        """Whether a leaf that is not the level's own takes part in one of them."""
        return self.recorded and any(_foreign(physical(t), self._own) for t in tensors)

    def leave(self, tree: Any) -> Any:
        """What comes out, without the level's own graph."""
        return _tree.mapped(lambda x: x if self.is_watched([x]) else _without_graph(x), tree)


def _without_graph(x: Tensor) -> Tensor:
    plain, numbers = unwrapped(x)
    made: Tensor = rewrapped(without_graph(plain), numbers)
    return made


def _is_open(leaf: Tensor) -> bool:
    """May somebody ask for its gradient? Not by the leaf of a transform that is done."""
    reference = getattr(leaf, "level_of_transform", None)
    if reference is None:
        return True
    level = reference()
    return level is not None and level.at_work > 0


def _foreign(x: Tensor, own: list[Tensor]) -> bool:
    if not x.requires_grad:
        return False
    if x.grad_fn is None:
        return not any(x is leaf for leaf in own) and _is_open(x)
    mine = {id(leaf) for leaf in own}
    seen, waiting = set(), [x.grad_fn]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if getattr(node, "variable", None) is not None:
            if id(node.variable) not in mine and _is_open(node.variable):
                return True
            continue
        waiting.extend(following for following, _ in node.next_functions if following is not None)
    return False
