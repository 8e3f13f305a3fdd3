"""Numbers that each run of a graph is given anew, or draws: where they come from, and what they are
in a call.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import taeda

__all__ = ["Number", "PythonRandom", "Scalars"]


@dataclass(frozen=True, eq=False)
class Number:
    """A float: "given" as the argument at a place, "drawn" as the n-th draw, which is the call of a
    function with arguments, "constant", or an operation of two others.
    """

    kind: str
    place: Any
    parts: tuple[Any, ...] = ()

    def sources(self) -> Iterator[Number]:
        """Those that it is computed from."""
        if self.kind in ("given", "drawn"):
            yield self
        elif self.kind != "constant":
            for part in self.parts:
                yield from part.sources()

    def evaluated(self, given: Callable[[Any], float], drawn: Sequence[float]) -> Any:
        """What it is in a call."""
        if self.kind == "given":
            return given(self.place)
        if self.kind == "drawn":
            return drawn[self.place]
        if self.kind == "constant":
            return self.place
        function = getattr(operator, self.kind)
        return function(*(part.evaluated(given, drawn) for part in self.parts))


class Scalars:
    """The numbers of one graph, as tensors without dimensions."""

    def __init__(
        self, inputs: list[tuple[int, Number, Any]], draws: list[Number], given: dict[Any, float]
    ) -> None:
        self._inputs, self._draws, self._given = inputs, draws, given
        self.places: tuple[Any, ...] = ()  # of the arguments, in the order in which calls give them

    @property
    def draws(self) -> bool:
        """Whether a run draws from Python's generator."""
        return bool(self._draws)

    def put(self, found: list[Any], given: Sequence[Any], *, peek: bool) -> bool:
        """Put them among the inputs of a run; False if one cannot be computed. `given` ends with the
        numbers of the call. With `peek` the generator stays where it is; else whoever asks puts it
        back if this is False.
        """
        drawn = self._drawn(peek=peek) if self._draws else ()
        if drawn is None:
            return False
        own = given[len(given) - len(self.places) :]
        values = {**self._given, **dict(zip(self.places, own, strict=True))}
        for number, source, dtype in self._inputs:
            try:
                value = source.evaluated(values.__getitem__, drawn)
            except ArithmeticError:
                return False
            found[number] = taeda.tensor(value, dtype=dtype, device="cpu")
        return True

    def _drawn(self, *, peek: bool) -> list[float] | None:
        """What this run draws; None if a function of `random` raises, as some do for some numbers."""
        before = _get_state() if peek else None
        try:
            return [number.parts[0](*number.parts[1]) for number in self._draws]
        except (ArithmeticError, ValueError):
            return None
        finally:
            if before is not None:
                _set_state(before)


class PythonRandom:
    """The generator of the module `random`, asked for its state as those of taeda are."""

    def get_state(self) -> _State:
        return _State(_get_state())

    def set_state(self, state: _State) -> None:
        _set_state(state.value)


#: of the generator from which `random.random` draws, whatever stands in their places later
_get_state, _set_state = random.getstate, random.setstate


@dataclass(frozen=True)
class _State:
    value: Any

    def equal(self, other: _State) -> bool:
        return bool(self.value == other.value)
