"""Processes started together: functions by multiprocessing, programs by subprocess.
No one outlives this process.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import IO, Any

from .errors import ProcessFailure, record
from .exits import Exits, left_by, signal_all
from .lines import Lines
from .logs import DefaultLogsSpecs, LogsDest, LogsSpecs, Std, to_map
from .tail import Tail

__all__ = [
    "DefaultLogsSpecs",
    "LogsDest",
    "LogsSpecs",
    "MultiprocessContext",
    "PContext",
    "ProcessFailure",
    "RunProcsResult",
    "SignalException",
    "Std",
    "SubprocessContext",
    "start_processes",
    "to_map",
]

PR_SET_PDEATHSIG = 1
# seconds that the others get, after one has failed, to notice by themselves and say so
LAST_WORDS = 3.0


class SignalException(Exception):
    """This process was told to end by `sigval`."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


def raise_on_signal(number: int, frame: FrameType | None) -> None:
    """A handler that turns a signal into SignalException."""
    sigval = signal.Signals(number)
    raise SignalException(f"Process {os.getpid()} got signal {sigval.name}", sigval)


@dataclass
class RunProcsResult:
    """How processes ended, by local rank: what functions returned, what failed, where output went.

    >>> RunProcsResult(return_values={0: "done"}).is_failed()
    False
    """

    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)
    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Did any fail?"""
        return bool(self.failures)


class PContext(ABC):
    """Processes that were started together.

    >>> from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs
    >>> context = start_processes("job", "/bin/true", {0: ()}, {0: {}}, DefaultLogsSpecs())
    >>> isinstance(context, PContext), context.nprocs
    (True, 1)
    >>> context.wait().is_failed()
    False
    """

    def __init__(
        self,
        name: str,
        entrypoint: Callable[..., Any] | str,
        args: Mapping[int, tuple[Any, ...]],
        envs: Mapping[int, dict[str, str]],
        logs_specs: LogsSpecs,
        log_line_prefixes: Mapping[int, str] | None = None,
    ) -> None:
        self.name, self.entrypoint, self.args, self.envs = name, entrypoint, dict(args), dict(envs)
        self.nprocs = len(envs)
        self._logs_specs = logs_specs
        self.logs = logs_specs.reify(self.envs)
        prefixes = log_line_prefixes or {rank: f"[{name}{rank}]:" for rank in self.envs}
        self._tails = [
            Tail({p: prefixes[r] for r, p in files.items() if p}, stream)
            for files, stream in (
                (self.logs.tee_stdouts, sys.stdout),
                (self.logs.tee_stderrs, sys.stderr),
            )
        ]
        self._failures: dict[int, ProcessFailure] = {}
        self._exits: Exits | None = None

    def start(self) -> None:
        """Start the processes."""
        self._start()
        self._exits = Exits(self.pids())

    @abstractmethod
    def _start(self) -> None:
        """Start them."""

    @abstractmethod
    def pids(self) -> dict[int, int]:
        """Process ids by local rank."""

    @abstractmethod
    def _poll(self) -> dict[int, int | None]:
        """Exit codes by local rank, None for those that run."""

    @abstractmethod
    def _return_values(self) -> dict[int, Any]:
        """What the functions returned, by local rank."""

    def wait(self, timeout: float = -1, period: float = 0.02) -> RunProcsResult | None:
        """The result once all have ended well or one has failed; None after `timeout` seconds.
        Failed ones are followed by the rest.
        """
        until = time.monotonic() + timeout if timeout >= 0 else None
        while True:
            codes = self._poll()
            if any(codes.values()):
                self._hear_last_words()
                self.close()
                return RunProcsResult({}, self._failures, self.logs.stdouts, self.logs.stderrs)
            if all(code == 0 for code in codes.values()):
                values = self._return_values()
                self.close()
                return RunProcsResult(values, {}, self.logs.stdouts, self.logs.stderrs)
            if until is not None and time.monotonic() >= until:
                return None
            time.sleep(period)

    def _hear_last_words(self) -> None:
        """Note failures in their order; the others may still find out by themselves and say whom
        they miss.
        """
        until = time.monotonic() + LAST_WORDS
        while True:
            codes = self._poll()
            for rank, code in codes.items():
                if code and rank not in self._failures:
                    self._failures[rank] = self._failure(rank, code)
            if None not in codes.values() or time.monotonic() > until:
                return
            time.sleep(0.01)

    def _failure(self, rank: int, code: int) -> ProcessFailure:
        failure = ProcessFailure(rank, self.pids()[rank], code, self.logs.error_files[rank])
        if self._exits is not None:
            failure.order = self._exits.place(rank)
            if failure.error_file_data is None and rank in self._exits.times:
                failure.timestamp = int(self._exits.times[rank])
        return failure

    def close(self, death_sig: signal.Signals | None = None, timeout: float = 30) -> None:
        """End what still runs: `death_sig` (SIGTERM), and SIGKILL after `timeout` seconds; then
        what they started themselves and left.
        """
        death_sig = death_sig or signal.SIGTERM
        running = [pid for rank, pid in self.pids().items() if self._poll()[rank] is None]
        signal_all(running, death_sig)
        self._await_ends(timeout)
        signal_all(
            [p for rank, p in self.pids().items() if self._poll()[rank] is None], signal.SIGKILL
        )
        self._await_ends(None)
        self._end_what_is_left(min(timeout, LAST_WORDS))
        for tail in self._tails:
            tail.stop()
        if self._exits is not None:
            self._exits.stop()
        self._logs_specs.release()

    def _await_ends(self, timeout: float | None) -> None:
        until = None if timeout is None else time.monotonic() + timeout
        while None in self._poll().values() and (until is None or time.monotonic() < until):
            time.sleep(0.01)

    def _end_what_is_left(self, timeout: float) -> None:
        """Every process of ours leads a session, in which are those that it started."""
        sessions, until = set(self.pids().values()), time.monotonic() + timeout
        if left := left_by(sessions):
            signal_all(left, signal.SIGTERM)
        while left and time.monotonic() < until:
            time.sleep(0.02)
            left = left_by(sessions)
        while left:
            signal_all(left, signal.SIGKILL)
            left = left_by(sessions)


def end_with(parent: int) -> None:
    """In a child: be killed when the process that started it ends, even by SIGKILL."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


class SubprocessContext(PContext):
    """Programs.

    >>> from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs
    >>> context = SubprocessContext("job", "/bin/false", {0: ()}, {0: {}}, DefaultLogsSpecs())
    >>> context.start()
    >>> context.wait().failures[0].exitcode
    1
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.subprocess_handlers: dict[int, Any] = {}
        self._lines: list[Lines] = []

    def _start(self) -> None:
        from .subprocess_handler.handlers import get_subprocess_handler

        stdouts = self._shown_by_line(self.logs.stdouts, sys.stdout)
        stderrs = self._shown_by_line(self.logs.stderrs, sys.stderr)
        for rank, environment in self.envs.items():
            environment = {**environment, "TORCHELASTIC_ERROR_FILE": self.logs.error_files[rank]}
            self.subprocess_handlers[rank] = get_subprocess_handler(
                str(self.entrypoint),
                self.args[rank],
                environment,
                stdouts[rank],
                stderrs[rank],
                rank,
            )
        for lines in self._lines:
            lines.start()

    def _shown_by_line(self, paths: Mapping[int, str], console: Any) -> dict[int, str]:
        """Pipes in the place of the console, where several write to one that is no terminal. A
        terminal they have themselves: programs ask for its width, and write it line by line.
        """
        try:
            out = console.fileno()
        except (OSError, ValueError, AttributeError):  # no file behind it
            return dict(paths)
        shared = [rank for rank, path in paths.items() if not path]
        if len(shared) < 2 or os.isatty(out):
            return dict(paths)
        lines = Lines(out)
        self._lines.append(lines)
        return {rank: path or lines.pipe() for rank, path in paths.items()}

    def pids(self) -> dict[int, int]:
        return {rank: handler.proc.pid for rank, handler in self.subprocess_handlers.items()}

    def _poll(self) -> dict[int, int | None]:
        return {rank: handler.proc.poll() for rank, handler in self.subprocess_handlers.items()}

    def close(self, death_sig: signal.Signals | None = None, timeout: float = 30) -> None:
        super().close(death_sig, timeout)
        for handler in self.subprocess_handlers.values():
            handler.close()  # its logs
        for lines in self._lines:
            lines.stop()
        self._lines.clear()

    def _return_values(self) -> dict[int, Any]:
        return dict.fromkeys(self.envs)


class MultiprocessContext(PContext):
    """Functions, in processes of multiprocessing; what they return must be picklable.

    >>> from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs
    >>> context = MultiprocessContext("job", abs, {0: (-3,)}, {0: {}}, "spawn", DefaultLogsSpecs())
    >>> context.nprocs, context.pids()  # before `start`
    (1, {})
    >>> context.close()
    """

    def __init__(
        self,
        name: str,
        entrypoint: Callable[..., Any],
        args: Mapping[int, tuple[Any, ...]],
        envs: Mapping[int, dict[str, str]],
        start_method: str,
        logs_specs: LogsSpecs,
        log_line_prefixes: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(name, entrypoint, args, envs, logs_specs, log_line_prefixes)
        self.start_method = start_method
        self._processes: dict[int, Any] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="taeda_results_")

    def _start(self) -> None:
        context: Any = multiprocessing.get_context(self.start_method)
        for rank, environment in self.envs.items():
            environment = {**environment, "TORCHELASTIC_ERROR_FILE": self.logs.error_files[rank]}
            files = self.logs.stdouts[rank], self.logs.stderrs[rank]
            task = (
                self.entrypoint,
                self.args[rank],
                environment,
                files,
                self._result(rank),
                os.getpid(),
            )
            self._processes[rank] = context.Process(target=_run_function, args=task)
            self._processes[rank].start()

    def _result(self, rank: int) -> str:
        return os.path.join(self._folder.name, str(rank))

    def pids(self) -> dict[int, int]:
        return {rank: process.pid for rank, process in self._processes.items()}

    def _poll(self) -> dict[int, int | None]:
        return {rank: process.exitcode for rank, process in self._processes.items()}

    def close(self, death_sig: signal.Signals | None = None, timeout: float = 30) -> None:
        super().close(death_sig, timeout)
        self._folder.cleanup()

    def _return_values(self) -> dict[int, Any]:
        values = {}
        for rank in self.envs:
            with open(self._result(rank), "rb") as file:
                values[rank] = pickle.load(file)
        return values


def _run_function(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    environment: dict[str, str],
    files: tuple[str, str],
    result: str,
    parent: int,
) -> None:
    """In the child."""
    end_with(parent)
    os.setsid()
    os.environ.update(environment)
    for number, path in zip((1, 2), files, strict=True):
        if path:
            with open(path, "wb") as file:  # half-written: a log
                os.dup2(file.fileno(), number)
    value = record(function)(*args)
    # half-written: in a folder of our own, read only after we ended well
    with open(result, "wb") as file:
        pickle.dump(value, file)


def start_processes(
    name: str,
    entrypoint: Callable[..., Any] | str,
    args: Mapping[int, tuple[Any, ...]],
    envs: Mapping[int, dict[str, str]],
    logs_specs: LogsSpecs,
    log_line_prefixes: Mapping[int, str] | None = None,
    start_method: str = "spawn",
) -> PContext:
    """Start a function or a program once for each local rank, numbered from 0, with its arguments
    and environment.

    ValueError if the numbers of `args` and `envs` are not 0, 1, 2, ...; RuntimeError while SIGCHLD
    is ignored.

    >>> import pathlib, tempfile
    >>> from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
    >>> logs = DefaultLogsSpecs(tempfile.mkdtemp(), redirects=Std.OUT)
    >>> args = {0: ("rank 0",), 1: ("rank 1",)}
    >>> result = start_processes("job", "/bin/echo", args, {0: {}, 1: {}}, logs).wait()
    >>> [pathlib.Path(path).read_text().strip() for path in result.stdouts.values()]
    ['rank 0', 'rank 1']
    """
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        raise RuntimeError(
            "SIGCHLD is ignored, so nobody learns how a rank ended, and one that failed would seem to have "
            "ended well: call signal.signal(signal.SIGCHLD, signal.SIG_DFL) first"
        )
    count = len(args)
    for what, given in (("args", args), ("envs", envs)):
        if set(given) != set(range(count)):
            raise ValueError(
                f"{what} must have the local ranks 0 to {count - 1}, and has {sorted(given)}"
            )
    context: PContext
    if isinstance(entrypoint, str):
        context = SubprocessContext(name, entrypoint, args, envs, logs_specs, log_line_prefixes)
    else:
        context = MultiprocessContext(
            name, entrypoint, args, envs, start_method, logs_specs, log_line_prefixes
        )
    try:
        context.start()
    except BaseException:
        context.close()
        raise
    return context


def start_program(
    command: list[str], environment: dict[str, str], out: str, err: str
) -> tuple[Any, list[IO[bytes]]]:
    """A subprocess that ends with this process, and the files of its output."""
    streams: list[Any] = []
    files: list[IO[bytes]] = []
    for path in (out, err):
        if path:
            files.append(open(path, "wb"))  # half-written: a log  # noqa: SIM115 - the process owns it
        streams.append(files[-1] if path else None)
    parent = os.getpid()
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdout=streams[0],
        stderr=streams[1],
        start_new_session=True,
        preexec_fn=lambda: end_with(parent),
    )
    return process, files
