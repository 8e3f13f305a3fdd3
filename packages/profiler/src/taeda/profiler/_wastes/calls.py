"""Calls that cost more than their work."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from taeda import Tensor

from ._run import Call, Finding, Run, Waste

__all__ = ["GrowingConcatenation", "NumbersOfPython", "NumbersRead", "SmallOperations"]

SMALL = 1024  # numbers of an operation whose arithmetic is cheaper than its call
MANY = 64  # such operations of one line in one step
LITTLE = 0.01  # of the run: less is not worth a word
OBJECTS = 1000  # numbers of Python that are worth a word
GROWN = 16  # parts that were put behind a tensor one by one


class SmallOperations(Waste):
    """Small operators in a loop of Python."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._counts: Counter[tuple[str, str, int]] = Counter()

    def operation(self, call: Call) -> None:
        """What the library does for one call of the program is no loop of the program."""
        if call.own and not call.backward and isinstance(call.made, Tensor):
            self._count(call.place, call.name, (call.made, *call.args))

    def called(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        """One module again and again is a loop; many modules, one after another, are a deep model."""
        if any(isinstance(value, Tensor) for value in args):
            self._count(place, f"{type(module).__name__} {id(module)}", args)

    def _count(self, place: str, name: str, values: tuple[Any, ...]) -> None:
        if all(value.numel() <= SMALL for value in values if isinstance(value, Tensor)):
            self._counts[place, name, self.run.step] += 1

    def found(self) -> list[Finding]:
        most: Counter[str] = Counter()
        steps: defaultdict[str, set[int]] = defaultdict(set)
        for (place, _, step), count in self._counts.items():
            if count >= MANY:
                most[place] = max(most[place], count)
                steps[place].add(step)
        return [
            Finding(
                place,
                f"an operation on a few numbers runs {count} times in one step. Each call costs more than "
                "its arithmetic: put the numbers into one tensor and call once.",
                f"nearly all of what this line takes, {self.run.share(self.run.at(place))}",
            )
            for place, count in most.most_common(3)
            if (
                self.run.step < 3 or len(steps[place]) > 1
            )  # once beside many steps is no loop of them
            and self.run.at(place) >= LITTLE * self.run.total
        ]


class NumbersRead(Waste):
    """`.item()` and its like in every step."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._steps: defaultdict[str, set[int]] = defaultdict(set)
        self._waits: set[str] = set()  # lines that wait for a device

    def number(self, tensor: Any, place: str) -> None:
        self._steps[place].add(self.run.step)
        if tensor.device.type != "cpu":
            self._waits.add(place)

    def found(self) -> list[Finding]:
        often = sorted(self._steps.items(), key=lambda read: -len(read[1]))
        return [
            Finding(
                place,
                "a tensor becomes a number of Python in every step, and the program waits for it. Add up "
                "in a tensor (detach it), and read the sum once in a while.",
                f"{len(steps)} waits, and each lets the device run dry"
                if place in self._waits
                else f"{len(steps)} reads: little on the CPU, but on a device each lets it run dry",
            )
            for place, steps in often[:5]
            if self.run.every_step(steps)
        ]


class NumbersOfPython(Waste):
    """Tensors made from long lists, again and again."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._steps: defaultdict[str, set[int]] = defaultdict(set)
        self._took: Counter[str] = Counter()
        self._most: Counter[str] = Counter()

    def event(self, kind: str, place: str, detail: Any) -> None:
        if kind == "made":
            count, took = detail
            self._took[place] += took
            if count >= OBJECTS:
                self._steps[place].add(self.run.step)
                self._most[place] = max(self._most[place], count)

    def found(self) -> list[Finding]:
        return [
            Finding(
                place,
                f"a tensor is made from a list of {self._most[place]:,} objects of Python in every step. "
                "Keep the numbers in a tensor or in an array of NumPy (taeda.from_numpy copies nothing).",
                f"nearly all of what this call takes, {self.run.share(self._took[place])}",
            )
            for place, steps in self._steps.items()
            if self.run.every_step(steps)
        ]


class GrowingConcatenation(Waste):
    """A tensor that grows by `cat`, part by part: each time all of it is copied."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._last: dict[str, Any] = {}  # the memory that the line made last
        self._rows: Counter[str] = Counter()
        self._longest: Counter[str] = Counter()

    def operation(self, call: Call) -> None:
        if call.name != "cat" or not call.args or not isinstance(call.made, Tensor):
            return
        place, parts = call.place, call.args[0]
        grown = isinstance(parts, (list, tuple)) and any(
            part.numel() and self._last.get(place) is self.run.block(part) is not None
            for part in parts
            if isinstance(part, Tensor)
        )
        self._rows[place] = self._rows[place] + 1 if grown else 0
        self._longest[place] = max(self._longest[place], self._rows[place])
        self._last[place] = self.run.block(call.made)

    def found(self) -> list[Finding]:
        return [
            Finding(
                place,
                f"cat makes a tensor longer {count} times in a row, and copies all of it each time. Gather "
                "the parts in a list and put them together once, or fill a tensor of the final size.",
                f"nearly all of what this line takes, {self.run.share(self.run.at(place, 'cat'))}",
            )
            for place, count in self._longest.most_common(3)
            if count >= GROWN
        ]
