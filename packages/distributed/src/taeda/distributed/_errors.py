"""What can go wrong between processes. All are RuntimeErrors, as the interface promises."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = [
    "DistBackendError",
    "DistError",
    "DistMismatchError",
    "DistNetworkError",
    "DistPeerDiedError",
    "DistStoreError",
    "DistTimeoutError",
    "QueueEmptyError",
]


class DistError(RuntimeError):
    """An error of this package."""


class DistBackendError(DistError):
    """An engine or a collective failed."""


class DistNetworkError(DistError):
    """An address could not be reached, or a connection broke."""


class DistStoreError(DistError):
    """A store refused a request, or did not have a key in time."""


class QueueEmptyError(DistStoreError):
    """A queue of a store has nothing to give."""


class _Ranked(DistBackendError):
    """An error that names ranks of the default group."""

    def __init__(self, message: str, ranks: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.ranks = list(ranks)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.ranks)


class DistPeerDiedError(_Ranked):
    """A process of the group has ended; `ranks` says which."""


class DistTimeoutError(_Ranked):
    """A collective was not complete in time; `ranks` are those that had not come."""


class DistMismatchError(_Ranked):
    """The ranks called different collectives, or the same with other shapes; `ranks` are the minority."""
