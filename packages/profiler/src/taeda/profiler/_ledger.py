"""Who holds which memory: every block with the line, the operation and the module that took it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

__all__ = ["Held", "Ledger", "Origin", "Peak"]

_MORE = 1.02  # a peak is looked at again when it is so much higher than the one before


class Origin(NamedTuple):
    """What was running when a block was taken."""

    place: str  # file:line of the program
    operation: str  # "" between operations
    module: str  # classes from the outermost inwards, with dots; "" outside
    step: int = 0
    grad: bool = False  # the result belongs to a graph


class Held(NamedTuple):
    """A block that was taken and not given back."""

    size: int
    when: int
    origin: Origin


class Peak(NamedTuple):
    """The most that was held, and by which lines."""

    size: int
    when: int
    by_place: dict[str, int]


NOWHERE = Origin("(before the recording)", "", "")


class Ledger:
    """Blocks by address. What is taken belongs to `origin`, which who runs operations keeps up to
    date; `total` begins with what was held before.
    """

    def __init__(self, total: int = 0) -> None:
        self.origin = NOWHERE
        self.live: dict[int, Held] = {}
        self.before = self.total = total
        self.lost = 0
        self.peak = Peak(total, 0, {NOWHERE.place: total} if total else {})
        self._by_place: Counter[str] = Counter({NOWHERE.place: total} if total else {})

    def block(self, when: int, address: int, size: int) -> None:
        """One more, or one less."""
        self.total += size
        if size > 0:
            self.live[address] = Held(size, when, self.origin)
            self._by_place[self.origin.place] += size
            if self.total > self.peak.size * _MORE:
                self.peak = Peak(self.total, when, dict(self._by_place))
            return
        held = self.live.pop(address, None)
        if held is None:
            self.before += size
            self._by_place[NOWHERE.place] += size
        else:
            self._less(held)

    def _less(self, held: Held) -> None:
        place = held.origin.place
        left = self._by_place[place] - held.size
        if left:
            self._by_place[place] = left
        else:
            del self._by_place[place]

    def missed(self, count: int) -> None:
        """Sums are off from now on, by what these were."""
        self.lost += count

    def by(self, field: str) -> list[tuple[str, int, int]]:
        """(what, bytes, blocks) of what is held now, by a field of `Origin`, the most first."""
        sizes: Counter[str] = Counter()
        counts: Counter[str] = Counter()
        for held in self.live.values():
            key = str(getattr(held.origin, field))
            sizes[key] += held.size
            counts[key] += 1
        return [(key, size, counts[key]) for key, size in sizes.most_common()]
