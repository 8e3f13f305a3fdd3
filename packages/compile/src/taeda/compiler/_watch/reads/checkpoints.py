"""Checkpoints inside of a recorded run: what backward computes again becomes steps of the graph.

The graph lets go of a tensor behind the step that reads it last. So what is computed again is not
kept by the graph either.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor, is_grad_enabled, random
from taeda.utils.checkpoint import checkpoint, noop_context_fn
from taeda.utils.checkpoint._region import recorded

from ..._control._part import generators_of

__all__ = ["is_checkpoint", "run_checkpoint"]

_FOLLOWED = {"use_reentrant", "preserve_rng_state"}
_OTHERS = {"context_fn", "determinism_check", "debug", "early_stop"}


def is_checkpoint(function: Any, args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether it is a checkpoint that a recorded run follows: one that records its graph, with no
    options that run code of their own.
    """
    return (
        function is checkpoint
        and len(args) > 0
        and kwargs.get("use_reentrant") is False
        and _OTHERS.isdisjoint(kwargs)
    )


def run_checkpoint(observer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """checkpoint(*args, **kwargs), whose function is seen each time that it runs."""
    given = {name: value for name, value in kwargs.items() if name not in _FOLLOWED}
    keeps = bool(kwargs.get("preserve_rng_state", True))
    run = _Runs(observer, args[0], keeps)
    return recorded(run, args[1:], given, False, noop_context_fn, True, False, True)


class _Runs:
    """The function of a checkpoint. A graph draws other numbers each time that it computes it, and
    the recorded run itself computes it once more than the program does. So where the first run draws
    some or changes what was there before, the recording ends; the others draw what the options say.
    """

    def __init__(self, observer: Any, function: Any, keeps_numbers: bool) -> None:
        self._observer, self._function, self._keeps = observer, function, keeps_numbers
        self._before = self._state()
        self._ran = self._drew = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._drew and self._keeps:
            with random.fork_rng():
                random.set_rng_state(self._before)
                return self._function(*args, **kwargs)
        if self._ran:
            return self._observer.call(self._function, *args, **kwargs)
        self._ran = True
        if not is_grad_enabled():  # then it is not computed again
            return self._observer.call(self._function, *args, **kwargs)
        return self._first(args, kwargs)

    def _first(self, args: Any, kwargs: Any) -> Any:
        """The first run, which tells whether another one finds all as it was, and leaves it."""
        recorder = self._observer.recorder
        known, memory = len(recorder.graph.steps), recorder.memory()
        with self._observer.again():
            result = self._observer.call(self._function, *args, **kwargs)
        steps = recorder.graph.steps
        self._drew = not self._is_same(self._before, self._state())
        if self._drew or next(generators_of(steps[known:]), None) is not None:
            self._observer.stop("numbers are drawn inside of a checkpoint")
        elif self._observer.active and recorder.changes(known, memory):
            self._observer.stop("a checkpoint changes what was there before")
        return result

    def _state(self) -> Tensor:
        """Of the generator; the recorded run knows nothing of it."""
        with self._observer.aside():
            return random.get_rng_state()

    def _is_same(self, state: Tensor, now: Tensor) -> bool:
        with self._observer.aside():
            return state.equal(now)
