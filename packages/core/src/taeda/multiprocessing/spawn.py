"""Several processes that run one function: started together, and ended together when one fails."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from .._process_ends import UNKNOWN, note_end

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

PATIENCE = 10.0  # seconds between asking a process to end and ending it
_WELL = b""  # the report of a process that ends well: its exit code may be lost
_REPORT_BYTES = 32_000  # of a traceback: what fits into a pipe that nobody reads yet


class ProcessException(Exception):
    """A process failed: `error_index` is its number among those started together, `error_pid` its
    process id.
    """

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    @property
    def error_pid(self) -> int:
        """The id of the process."""
        return self.pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process failed because its function raised; the message holds the traceback from there."""


class ProcessExitedException(ProcessException):
    """A process failed without an exception: `exit_code`, or `signal_name` of the signal that ended it."""

    def __init__(
        self, msg: str, error_index: int, pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


# ---- in the child ----


def _run(fn: Callable[..., Any], i: int, args: tuple[Any, ...], report: Connection) -> None:
    _end_with_parent()
    try:
        fn(i, *args)
    except KeyboardInterrupt:
        pass  # the parent was interrupted as well, and says so
    except SystemExit as end:
        if not end.code:
            _say_well(report)
        raise
    except Exception:  # noqa: BLE001 - the parent raises it
        text = traceback.format_exc().encode(errors="replace")
        report.send_bytes(text[-_REPORT_BYTES:])
        sys.exit(1)
    else:
        _say_well(report)


def _say_well(report: Connection) -> None:
    with contextlib.suppress(OSError):  # the parent is gone: nobody asks
        report.send_bytes(_WELL)


def _end_with_parent() -> None:
    """No orphans: SIGTERM to this process once the one that started it is gone, even by SIGKILL."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_await_end, args=(parent.sentinel,), daemon=True).start()


def _await_end(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)


# ---- in the parent ----


class ProcessContext:
    """Processes that were started together.

    >>> import operator
    >>> context = start_processes(operator.neg, nprocs=2, join=False, start_method="fork")
    >>> len(context.pids())
    2
    >>> while not context.join():
    ...     pass
    """

    def __init__(self, processes: Sequence[BaseProcess], reports: Sequence[Connection]) -> None:
        self.processes, self._reports = list(processes), list(reports)
        self._texts: dict[int, bytes | None] = {}  # reports that were read
        self.sentinels = {p.sentinel: i for i, p in enumerate(processes)}

    def pids(self) -> list[int]:
        """The ids of the processes, by number."""
        return [p.pid or 0 for p in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, or for `timeout` seconds; True once all have ended.

        If one failed, the others get `grace_period` seconds to end by themselves (none by default),
        then SIGTERM, and after as much patience SIGKILL; then ProcessRaisedException or
        ProcessExitedException tells of the first that failed. Call it in a loop:
        `while not context.join(): pass`.
        """
        if not self.sentinels:
            return True
        ready: list[Any] = wait(list(self.sentinels), timeout)
        ended = [self.sentinels.pop(s) for s in ready]
        failed = None
        for i in sorted(ended):
            self.processes[i].join()
            if failed is None and self._failed(i):
                failed = i
        if failed is None:
            return not self.sentinels
        self._end(grace_period)
        raise self._error(failed)

    def _failed(self, i: int) -> bool:
        note_end(self.processes[i])
        if self.processes[i].exitcode != UNKNOWN:
            return bool(self.processes[i].exitcode)
        self._texts[i] = self._report(i)
        return self._texts[i] != _WELL

    def _report(self, i: int) -> bytes | None:
        """What a process said at its end; None if it said nothing."""
        try:
            return self._reports[i].recv_bytes() if self._reports[i].poll() else None
        except EOFError:  # it never wrote: its end of the pipe is closed
            return None

    def _runs(self, process: BaseProcess) -> bool:
        note_end(process)
        return process.is_alive()

    def _end(self, grace_period: float | None) -> None:
        """Bring the processes that still run to their end."""
        self._wait(grace_period or 0)
        for act in (BaseProcess.terminate, BaseProcess.kill):
            for process in self.processes:
                if self._runs(process):
                    act(process)
            self._wait(grace_period or PATIENCE)
        self.sentinels.clear()

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, until - time.monotonic()))

    def _error(self, i: int) -> ProcessException:
        process = self.processes[i]
        pid, code = process.pid or 0, process.exitcode or 0
        said = self._texts[i] if i in self._texts else self._report(i)
        if said:
            text = said.decode(errors="replace")
            msg = f"\n\n-- Process {i} terminated with the following error:\n{text}"
            return ProcessRaisedException(msg, i, pid)
        if code == UNKNOWN:
            return ProcessExitedException(
                f"process {i} terminated before its function had returned; how is not known, as "
                "SIGCHLD is ignored: signal.signal(signal.SIGCHLD, signal.SIG_DFL) keeps exit codes",
                i,
                pid,
                code,
            )
        if code < 0:
            name = _signal_name(-code)
            return ProcessExitedException(
                f"process {i} terminated with signal {name}", i, pid, code, name
            )
        return ProcessExitedException(f"process {i} terminated with exit code {code}", i, pid, code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"number {number}"


class SpawnContext(ProcessContext):
    """What `spawn(..., join=False)` returns: processes of the start method "spawn".

    >>> import operator
    >>> context = spawn(operator.neg, nprocs=0, join=False)  # of no process
    >>> context.join()
    True
    """


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` processes, i counting from 0.

    With `join` wait for all of them: None if all ended well, else the exception of
    ProcessContext.join. Without, the context to join later. Children end when this process does.
    ValueError for an unknown start method.

    >>> import operator
    >>> start_processes(operator.neg, nprocs=2, start_method="fork")  # both have ended well
    """
    context: Any = multiprocessing.get_context(start_method)
    processes: list[BaseProcess] = []
    reports: list[Connection] = []
    try:
        for i in range(nprocs):
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_run, args=(fn, i, args, theirs), daemon=daemon)
            process.start()
            theirs.close()
            processes.append(process)
            reports.append(mine)
        made = (SpawnContext if start_method == "spawn" else ProcessContext)(processes, reports)
        while join and not made.join():
            pass
    except ProcessException:
        raise
    except BaseException:  # interrupted, or a process that could not start: leave none behind
        ProcessContext(processes, reports)._end(None)
        raise
    return None if join else made


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` fresh Python processes, i counting from 0; `fn` must be
    importable there.

    When one fails the rest are ended, and ProcessRaisedException carries the traceback of the one
    that failed, ProcessExitedException its exit code or signal. With `join=False` a SpawnContext at
    once.

    >>> import operator
    >>> spawn(operator.truediv, args=(0,), nprocs=1, start_method="fork")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    taeda.multiprocessing.spawn.ProcessRaisedException: ...ZeroDivisionError: division by zero...
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
