"""Relations joined by "and" or "or"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._expressions import Relation

__all__ = ["Joined", "Question", "joined"]


@dataclass(frozen=True, repr=False)
class Joined:
    """Whether all (`and`) or any (`or`) of some relations hold."""

    sign: str
    parts: tuple[Question, ...]

    def value(self, values: Mapping[str, Any]) -> bool:
        """Whether it holds for these values of symbols."""
        return (all if self.sign == "and" else any)(part.value(values) for part in self.parts)

    def decided(self) -> bool | None:
        """Whether it holds whatever the symbols are, or never does; None if that depends."""
        return _settled(self.sign, [part.decided() for part in self.parts])

    def negated(self) -> Question:
        """The one that holds exactly where this one does not."""
        return Joined(_OTHER[self.sign], tuple(part.negated() for part in self.parts))

    def replaced(self, values: Mapping[str, Any]) -> Question:
        """The same with expressions in place of symbols."""
        return Joined(self.sign, tuple(part.replaced(values) for part in self.parts))

    def symbols(self) -> set[str]:
        """The names of the symbols in it."""
        return set().union(*(part.symbols() for part in self.parts))

    def __str__(self) -> str:
        words = (f"({p})" if isinstance(p, Joined) else str(p) for p in self.parts)
        return f" {self.sign} ".join(words)

    __repr__ = __str__


Question = Relation | Joined
_OTHER = {"and": "or", "or": "and"}


def joined(sign: str, *parts: Question) -> Question:
    """The questions as one; those joined by the same word are taken apart first."""
    flat: list[Question] = []
    for part in parts:
        inner = part.parts if isinstance(part, Joined) and part.sign == sign else (part,)
        flat.extend(one for one in inner if one not in flat)
    return flat[0] if len(flat) == 1 else Joined(sign, tuple(flat))


def _settled(sign: str, answers: list[bool | None]) -> bool | None:
    """The answer to joined questions, where some answers are not known."""
    ends = sign == "or"  # one answer that is this decides
    if ends in answers:
        return ends
    return None if None in answers else not ends
