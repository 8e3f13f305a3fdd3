"""Types and copies that nobody wanted."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import taeda
from taeda import Tensor

from ._run import Call, Finding, Run, Waste

__all__ = ["BytesNormalised", "Copies", "Doubles"]

#: what gives its input in order: a view where that has it, else a copy
_COPIES = ("clone", "contiguous", "flatten", "ravel", "reshape", "reshape_as")
LARGE = 1 << 14  # numbers of a tensor whose copy takes longer than the call


class Doubles(Waste):
    """float64 by accident."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._doubles: Counter[str] = Counter()
        self._took: Counter[str] = Counter()
        self._made = 0
        self._wanted = False

    def operation(self, call: Call) -> None:
        if isinstance(call.made, Tensor) and call.made.is_floating_point():
            self._made += call.made.numel()
            if call.made.dtype is taeda.float64:
                self._doubles[call.place] += call.made.numel()
                self._took[call.place] += call.took

    def before_step(self, optimizer: Any) -> None:
        held = (p for group in optimizer.param_groups for p in group["params"])
        self._wanted |= any(p.dtype is taeda.float64 for p in held)

    def found(self) -> list[Finding]:
        count = sum(self._doubles.values())
        wanted = self._wanted or taeda.get_default_dtype() is taeda.float64
        if not count or wanted or count < 0.1 * self._made:
            return []
        place = max(self._doubles, key=lambda one: self._doubles[one])
        return [
            Finding(
                place,
                "computes in float64, though weights and default are float32 or less: "
                f"{100 * count // self._made} % of all numbers made are float64. Data from NumPy are often "
                "float64: convert them once, x.float().",
                f"about half of what operations in float64 take, {self.run.share(sum(self._took.values()) / 2)}",  # noqa: E501
            )
        ]


class Copies(Waste):
    """The same rearranged copy in every step, of a tensor that outlives them."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._seen: defaultdict[tuple[str, int, int], set[int]] = defaultdict(set)
        # addresses of what the program gives to modules, out of order
        self._given: set[int] = set()

    def called(self, module: Any, args: tuple[Any, ...], place: str) -> None:
        given = (value for value in args if isinstance(value, Tensor))
        self._given.update(value.data_ptr() for value in given if not value.is_contiguous())

    def operation(self, call: Call) -> None:
        if call.name not in _COPIES or not call.args:
            return
        source, made = call.args[0], call.made
        if not isinstance(source, Tensor) or not isinstance(made, Tensor):
            return
        if made.numel() < LARGE or source.is_contiguous() or call.backward:
            return
        address = source.data_ptr()
        if made.data_ptr() == address or not (call.own or address in self._given):
            return  # no copy, or one for which the library has its reasons
        block = self.run.block(source)
        if block is None or block.origin.step < call.step:
            self._seen[call.place, address, block.when if block else 0].add(call.step)

    def found(self) -> list[Finding]:
        places = {place for (place, *_), steps in self._seen.items() if self.run.every_step(steps)}
        return [
            Finding(
                place,
                "the same tensor, which is not contiguous, is copied in every step. Copy it once before the "
                "loop, or keep it in the order in which it is used.",
                f"this copy, {self.run.share(self.run.at(place, *_COPIES))}",
            )
            for place in sorted(places)
        ]


class BytesNormalised(Waste):
    """Images of bytes that become floats, and are scaled, where the training runs."""

    _SCALES = frozenset(("div", "mul", "sub", "add", "rsub"))

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._fresh: dict[int, tuple[str, Any]] = {}  # floats of bytes, by address: line and memory
        self._steps: defaultdict[str, set[int]] = defaultdict(set)
        self._took: Counter[str] = Counter()

    def operation(self, call: Call) -> None:
        made, source = call.made, call.args[0] if call.args else None
        if not isinstance(made, Tensor) or not isinstance(source, Tensor):
            return
        if made.numel() < LARGE or not made.is_floating_point():
            return
        scales = call.name in self._SCALES
        if source.dtype is taeda.uint8 and (scales or call.name in ("_to_copy", "to", "copy_")):
            self._keep(made, call.place)
            self._took[call.place] += call.took
            if scales:
                self._steps[call.place].add(call.step)
        elif scales and (place := self._line(source)) is not None:
            self._keep(made, place)
            self._steps[place].add(call.step)
            self._took[place] += call.took

    def _keep(self, made: Tensor, place: str) -> None:
        self._fresh[made.data_ptr()] = place, self.run.block(made)

    def _line(self, source: Tensor) -> str | None:
        place, block = self._fresh.get(source.data_ptr(), (None, None))
        return place if block is self.run.block(source) else None

    def found(self) -> list[Finding]:
        return [
            Finding(
                place,
                "images of bytes become floats and are scaled in every step, each operation a pass over four "
                "times the memory. Do it in the workers of the loader, or fold scale and shift into the "
                "weights of the first layer.",
                f"these passes, {self.run.share(self._took[place])}",
            )
            for place, steps in self._steps.items()
            if self.run.every_step(steps)
        ]
