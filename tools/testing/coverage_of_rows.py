"""Which calls of which rows ran, and why others did not: what a search over the op table says of itself.

A child notes each call; the parent reads the lines and counts. A row none of whose calls ran was
not searched, which is a fault.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Coverage", "note"]

_noted: list[str] = []


def note(refusal: Exception | None) -> None:
    """A call ran, or was refused: told by the child that made it."""
    text = "" if refusal is None else f"{type(refusal).__name__}: {refusal}"
    _noted.append(" ".join(text.split())[:120])


def noted() -> list[str]:
    """What was noted since the last time: nothing for a call that ran, else why it did not."""
    found = _noted[:]
    _noted.clear()
    return found


@dataclass
class Coverage:
    """Calls of rows: how many ran, and why others did not."""

    ran: Counter[str] = field(default_factory=Counter)
    refused: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, row: str, refusal: str) -> None:
        """One call; an empty refusal is one that ran."""
        self.ran[row] += not refusal
        if refusal:
            self.refused.setdefault(row, Counter())[refusal] += 1

    def faults(self) -> list[str]:
        """A sentence for every row none of whose calls ran."""
        return [
            f"{row}: none of its calls ran: {', '.join(self.refused.get(row, ['it has no sample']))}"
            for row in sorted(self.ran)
            if not self.ran[row]
        ]

    def __str__(self) -> str:
        refused = sum(sum(why.values()) for why in self.refused.values())
        return f"{len(self.ran)} rows, {sum(self.ran.values())} calls ran, {refused} were refused"

    def reasons(self) -> list[str]:
        """Every refusal, the row first."""
        return [
            f"{row}: {count} calls refused: {why}"
            for row in sorted(self.refused)
            for why, count in self.refused[row].most_common()
        ]
