"""How a process that fails tells the one that started it why.

The launcher names a file in TAEDA_ELASTIC_ERROR_FILE (TORCHELASTIC_ERROR_FILE works as well).
`record` around the main function writes the exception there.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from taeda._core_api.files import atomic_write

__all__ = ["ChildFailedError", "ErrorHandler", "ProcessFailure", "get_error_handler", "record"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
VARIABLES = ("TAEDA_ELASTIC_ERROR_FILE", "TORCHELASTIC_ERROR_FILE")


class ErrorHandler:
    """Writes an exception as JSON to the file that the launcher named.

    >>> import pathlib, tempfile
    >>> from unittest import mock
    >>> path = pathlib.Path(tempfile.mkdtemp(), "error.json")
    >>> with mock.patch.dict(os.environ, TAEDA_ELASTIC_ERROR_FILE=str(path)):
    ...     ErrorHandler().record_exception(ValueError("no such layer"))
    >>> json.loads(path.read_text())["message"]["message"]
    'ValueError: no such layer'
    """

    def initialize(self) -> None:
        """Called before the function runs."""

    def record_exception(self, error: BaseException) -> None:
        """Write what happened, if there is a file to write to."""
        path = next((os.environ[name] for name in VARIABLES if name in os.environ), "")
        if not path:
            return
        facts = {
            "message": {
                "message": f"{type(error).__name__}: {error}",
                "extraInfo": {
                    "py_callstack": "".join(traceback.format_exception(error)),
                    "timestamp": str(int(time.time())),
                },
            }
        }
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with atomic_write(path, sync="off") as file:
            file.write(json.dumps(facts).encode())


def get_error_handler() -> ErrorHandler:
    """The handler that `record` uses unless it is given one.

    >>> isinstance(get_error_handler(), ErrorHandler)
    True
    """
    return ErrorHandler()


def record(fn: _Function, error_handler: ErrorHandler | None = None) -> _Function:
    """A decorator for the main function: what it raises is written to the launcher's error file, and raised.

    >>> @record
    ... def main():
    ...     return 3
    >>> main()
    3
    """

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        handler = error_handler or get_error_handler()
        handler.initialize()
        try:
            return fn(*args, **kwargs)
        except SystemExit as error:
            if error.code not in (0, None):
                handler.record_exception(error)
            raise
        except ChildFailedError as error:
            _, failure = error.get_first_failure()
            if failure.error_file_data is None:
                handler.record_exception(error)
            raise
        except Exception as error:
            handler.record_exception(error)
            raise

    return run  # type: ignore[return-value]  # it has the signature of `fn`


@dataclass
class ProcessFailure:
    """A process that failed: its number on this machine, id, exit code (negative for a signal), and
    what it wrote.

    >>> failure = ProcessFailure(local_rank=0, pid=4711, exitcode=-9, error_file="/none")
    >>> failure.signal_name()
    'SIGKILL'
    >>> failure.message
    'Signal 9 (SIGKILL) received by PID 4711'
    """

    local_rank: int
    pid: int
    exitcode: int
    error_file: str
    error_file_data: dict[str, Any] | None = field(init=False, default=None)
    message: str = field(init=False, default="")
    timestamp: int = field(init=False, default=0)
    order: int = field(init=False, default=0)  # among the ends of its machine's processes

    def __post_init__(self) -> None:
        self.timestamp = int(time.time())
        if os.path.isfile(self.error_file):
            self._read()
        if not self.message:
            self.message = self._by_exit_code()

    def _read(self) -> None:
        try:
            with open(self.error_file, "rb") as file:
                data = json.loads(file.read())
            message = data["message"]
            self.timestamp = int(message["extraInfo"]["timestamp"])
            self.message, self.error_file_data = message["extraInfo"]["py_callstack"], data
        except (OSError, ValueError, KeyError, TypeError):
            self.message = f"the error file {self.error_file} cannot be read"

    def _by_exit_code(self) -> str:
        if self.exitcode < 0:
            return f"Signal {-self.exitcode} ({self.signal_name()}) received by PID {self.pid}"
        return (
            "The process wrote no error file: decorate its main function with "
            "taeda.distributed.elastic.multiprocessing.errors.record to see its traceback here"
        )

    def signal_name(self) -> str:
        """The name of the signal that ended it, or "<N/A>"."""
        if self.exitcode >= 0:
            return "<N/A>"
        try:
            return signal.Signals(-self.exitcode).name
        except ValueError:
            return f"signal {-self.exitcode}"

    def timestamp_isoformat(self) -> str:
        """When it failed, in local time."""
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.timestamp))


class ChildFailedError(Exception):
    """Processes of a job failed; the text begins with the first one, which is mostly the cause of
    the others.
    """

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        if not failures:
            raise ValueError("ChildFailedError needs at least one failure")
        self.name, self.failures = name, failures
        super().__init__(self.format_msg())

    def get_first_failure(self) -> tuple[int, ProcessFailure]:
        """Rank and facts of the process that failed first."""
        rank = min(self.failures, key=lambda rank: (*_when(self.failures[rank]), rank))
        return rank, self.failures[rank]

    def format_msg(self) -> str:
        """The report."""
        first, _ = self.get_first_failure()
        lines = [f"{self.name} FAILED", "Root cause (first observed failure):", *self._lines(first)]
        others = [rank for rank in sorted(self.failures) if rank != first]
        if others:
            lines.append("Other failures:")
        for rank in others:
            lines += self._lines(rank)
        return "\n".join(lines)

    def _lines(self, rank: int) -> list[str]:
        failure = self.failures[rank]
        head = (
            f"  rank {rank} (local_rank {failure.local_rank}), pid {failure.pid}, exitcode "
            f"{failure.exitcode}"
        )
        text = "\n".join("    " + line for line in failure.message.rstrip().splitlines())
        return [f"{head}, at {failure.timestamp_isoformat()}", text]


def _when(failure: ProcessFailure) -> tuple[int, int, int]:
    return failure.timestamp, _secondary(failure), failure.order


def _secondary(failure: ProcessFailure) -> int:
    """How likely it failed because another one did: 0 for one that a signal killed, 2 for one that
    missed another or was told to end.
    """
    missed = any(
        word in failure.message for word in ("DistPeerDiedError", "DistTimeoutError", "gave up")
    )
    if failure.exitcode == -signal.SIGTERM or missed:
        return 2
    return 0 if failure.exitcode < 0 else 1
