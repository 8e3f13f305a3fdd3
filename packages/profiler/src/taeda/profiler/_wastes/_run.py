"""What is told of a run, and what a waste may ask of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from taeda import Tensor

    from .._ledger import Held, Ledger

__all__ = ["MANY_STEPS", "Call", "Finding", "Run", "Waste"]

MANY_STEPS = 5  # below that nothing is said of every step


class Call(NamedTuple):
    """One operation of the program, after it ran."""

    name: str  # without aten::
    place: str  # file:line
    args: tuple[Any, ...]
    made: Any
    step: int
    took: int  # nanoseconds
    own: bool = True  # the line asks for it itself: no layer, optimizer or helper stands between
    backward: bool = False  # within a backward pass


class Finding(NamedTuple):
    """A waste that was found."""

    place: str
    text: str  # what it is, and what to do
    gain: str  # what that may gain

    def __str__(self) -> str:
        return f"{self.place}: {self.text} Gain: {self.gain}."


class Run:
    """Sums over a run that several wastes ask."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.step = 0  # of all optimizers
        self.total = 0  # nanoseconds, known at the end
        self.took: Counter[tuple[str, str]] = Counter()  # nanoseconds by (place, operation)
        self.calls: Counter[str] = Counter()  # operations by place
        self.threads: list[tuple[str, int]] = []  # (place, count) of set_num_threads

    def block(self, tensor: Tensor) -> Held | None:
        """The memory of a tensor: one object as long as it is held; None if it was taken before the run.
        Addresses are given again, and say nothing of the tensor that lay there.
        """
        return self.ledger.live.get(tensor.untyped_storage().data_ptr())

    def every_step(self, steps: set[int]) -> bool:
        """Whether something happened in nearly all of many steps."""
        return self.step >= MANY_STEPS and len(steps) >= 0.9 * self.step

    def share(self, nanoseconds: float) -> str:
        """A time as a part of the run.

        >>> run = Run(None)
        >>> run.total = 10**9
        >>> run.share(10**8)
        '10 % of the run (100 ms)'
        """
        part = 100 * nanoseconds / max(1, self.total)
        shown = f"{part:.0f}" if part >= 1 else f"{part:.1g}"
        return f"{shown} % of the run ({nanoseconds / 1e6:.3g} ms)"

    def ran(self, place: str, name: str, took: int) -> None:
        """An operation took so many nanoseconds."""
        self.took[place, name] += took
        self.calls[place] += 1

    def lines(self) -> dict[str, tuple[int, int]]:
        """(operations, nanoseconds) of each line."""
        sums: Counter[str] = Counter()
        for (place, _), took in self.took.items():
            sums[place] += took
        return {place: (self.calls[place], took) for place, took in sums.items()}

    def at(self, place: str, *names: str) -> int:
        """Nanoseconds of operations at a line: of these names, or of all."""
        return sum(
            took
            for (where, name), took in self.took.items()
            if where == place and (not names or name in names)
        )


class Waste:
    """One kind of waste. A subclass hears what it asks for, and says what it found."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def operation(self, call: Call) -> None:
        """An operation ran, outside of data sets."""

    def number(self, tensor: Any, place: str) -> None:
        """A tensor became a number of Python."""

    def before_step(self, optimizer: Any) -> None:
        """An optimizer is about to step."""

    def after_step(self) -> None:
        """It has stepped."""

    def cleared(self) -> None:
        """Gradients were cleared."""

    def model(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        """A module is called, and no other is around it."""

    def called(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        """A line of the program calls a module, within another or not."""

    def event(self, kind: str, place: str, detail: Any) -> None:
        """Something else: "load" (nanoseconds, loader), "made" (a tensor from objects of Python, how
        many), "synchronised", "graph" (name and cause of another graph).
        """

    def found(self) -> list[Finding]:
        """What there is to say, the most telling first."""
        return []
