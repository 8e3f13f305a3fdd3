"""The last words of a rank that gave up: what it met, and which ranks its error names.
Others raise the same kind of error because of them.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from dataclasses import dataclass

from .._errors import DistBackendError, DistPeerDiedError, DistTimeoutError

__all__ = ["LastWords", "follow"]

_NAMED = 50  # ranks that are told of at most: the room is small
_RANKED = {kind.__name__: kind for kind in (DistTimeoutError, DistPeerDiedError)}


@dataclass(frozen=True)
class LastWords:
    """`kind` is the name of the error's class, `ranks` are of the default group."""

    kind: str
    ranks: tuple[int, ...]
    text: str

    @classmethod
    def of(cls, error: BaseException) -> LastWords:
        """What a rank leaves behind that `error` ends."""
        text = "".join(traceback.format_exception_only(error)).strip()
        return cls(type(error).__name__, tuple(getattr(error, "ranks", ())), text)

    def pack(self) -> str:
        return f"{self.kind}|{' '.join(map(str, self.ranks[:_NAMED]))}|{self.text}"

    @classmethod
    def unpack(cls, packed: str) -> LastWords:
        """The words that `pack` made."""
        kind, ranks, text = packed.split("|", 2)
        return cls(kind, tuple(map(int, ranks.split())), text)


def follow(message: str, heard: Iterable[LastWords], spoke: Iterable[int]) -> DistBackendError:
    """The error of a rank that gives up because the ranks `spoke` did. It names the ranks that they
    name; that a process has ended says more than that time is over.
    """
    words = list(heard)
    for name in ("DistPeerDiedError", "DistTimeoutError"):
        named = {rank for one in words if one.kind == name for rank in one.ranks}
        if any(one.kind == name for one in words):
            return _RANKED[name](message, sorted(named or set(spoke)))
    return DistBackendError(message)
