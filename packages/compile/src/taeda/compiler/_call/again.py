"""The call once more, for derivatives that a graph has no program for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api.calls import keep_weight, region, snapshot

from .._replay.trace import Trace

__all__ = ["Again"]


class Again:
    """The call once more, as the program itself: for derivatives that the graph has no program for."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        trace: Trace,
        states: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        """`states` are generators with the state that each had before the call."""
        self._function, self._args, self._kwargs, self._trace = function, args, kwargs, trace
        self._states = states
        self._settings = _settings()
        self._region = None if region() is None else snapshot()

    def holds(self) -> bool:
        """Whether the program is still the one that the graph computed."""
        outside = self._region is not None or region() is None
        return outside and self._trace.holds() and self._settings == _settings()

    def __call__(self, casts: list[tuple[Tensor, Any, Tensor]]) -> Any:
        if self._region is None:
            return self._drawing_again()
        with self._region.restored():
            for weight, dtype, cast in casts:
                keep_weight(weight, dtype, cast)
            return self._drawing_again()

    def _drawing_again(self) -> Any:
        """The call, which draws what it drew; the generators stay where they are."""
        now = [(generator, generator.get_state()) for generator, _ in self._states]
        try:
            _rewind(self._states)
            return self._function(*self._args, **self._kwargs)
        finally:
            _rewind(now)


def _rewind(states: Sequence[tuple[Any, Any]]) -> None:
    for generator, state in states:
        generator.set_state(state)


def _settings() -> Any:
    """What operations ask apart from their arguments, the modes of gradients and autocast."""
    return _core.get_default_dtype(), _core.get_default_device()
