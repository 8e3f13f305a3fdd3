"""The error of a save or a load that failed on some rank."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["CheckpointException"]

Failure = tuple[BaseException, traceback.StackSummary]


class CheckpointException(RuntimeError):
    """A save or a load failed. Every rank raises it.

    `failures` has the exception and its traceback for each rank that failed.
    """

    def __init__(self, msg: str, failures: dict[int, Failure]) -> None:
        super().__init__(msg, failures)
        self.message, self._failures = msg, failures

    @property
    def failures(self) -> dict[int, Failure]:
        """What went wrong, by rank."""
        return self._failures

    def __str__(self) -> str:
        lines = [f"{self.message} failed on rank {', '.join(map(str, sorted(self.failures)))}"]
        for rank, (error, stack) in sorted(self.failures.items()):
            lines.append(f"rank {rank}: {type(error).__name__}: {error}")
            lines += [line.rstrip() for line in stack.format()[-3:]]
        return "\n".join(lines)

    def __reduce__(self) -> Any:
        return type(self), (self.message, self._failures)
