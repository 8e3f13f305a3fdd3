"""Starting worker processes: which start method, several at once, and how they end."""

from __future__ import annotations

import _thread
import errno
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.context import BaseContext
from types import FrameType
from typing import Any

from taeda._core_api.processes import note_end

__all__ = [
    "checked_context",
    "default_context",
    "interrupts_put_off",
    "join_or_kill",
    "start_all",
]

# `Process.join` with a patience imports it. A loader may be collected amid that very import, and its workers
# are waited for then: it is there before there are any.
_WAITS = "multiprocessing.connection"
# what a server of forks loads before it forks, besides the main module: workers begin with it loaded
_PRELOADED = ["__main__", "taeda.utils.data"]


def checked_context(context: Any, num_workers: int) -> Any:
    """The context of a `multiprocessing_context` argument. ValueError and TypeError for what is none."""
    if context is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        known = multiprocessing.get_all_start_methods()
        if context not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known}, but got multiprocessing_context={context!r}"
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a context object of multiprocessing or the name of a "
            f"start method, but got multiprocessing_context={context!r}"
        )
    return context


def default_context() -> Any:
    """The program's own choice, else fork where the system's Python forks, else a server of forks.

    A process that has an accelerator open cannot be forked: there it is the server, too. The
    reasons are in the decision page on start methods.
    """
    chosen = multiprocessing.get_start_method(allow_none=True)
    if chosen is not None:
        return multiprocessing.get_context(chosen)
    methods = multiprocessing.get_all_start_methods()  # the system's default comes first
    if methods[0] == "fork" and not _accelerator_is_open():
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("forkserver" if "forkserver" in methods else methods[0])


def _accelerator_is_open() -> bool:
    import taeda

    return bool(taeda.cuda.is_initialized())


def start_all(context: Any, targets: list[tuple[Any, tuple[Any, ...]]], name: str) -> list[Any]:
    """Start a process for each (function, arguments). Those that take time to start do so at once."""
    importlib.import_module(_WAITS)
    processes = [
        context.Process(target=function, args=arguments, daemon=True, name=f"{name}-{i}")
        for i, (function, arguments) in enumerate(targets)
    ]
    _check_descriptors(len(processes))
    with _interrupts_held_back():
        if _method(context) == "fork":
            _fork(processes)
        else:
            _preload(context)
            _start_at_once(processes)
    return processes


_DESCRIPTORS = 8  # that starting one process takes, and most of which it gives back


def _check_descriptors(count: int) -> None:
    """OSError now if they are short: multiprocessing would lose those it has when it meets the one
    that is missing.
    """
    taken: list[int] = []
    try:
        for _ in range(count * _DESCRIPTORS):
            taken.append(  # noqa: PERF401 - each is to be closed when a later one fails
                os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            )
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            return  # no such device here: nothing is known
        raise OSError(
            error.errno,
            f"{os.strerror(error.errno)}: starting {count} processes takes {count * _DESCRIPTORS} "
            "file descriptors, and "
            f"{len(taken)} are left; raise the limit (ulimit -n), close files, or use fewer workers",
        ) from None
    finally:
        for descriptor in taken:
            os.close(descriptor)


def _method(context: Any) -> str:
    return context.get_start_method()


def _fork(processes: list[Any]) -> None:
    with warnings.catch_warnings():
        # Python warns of threads in the parent. Ours survive a fork, and a worker runs nothing
        # before its own code; decision page 0013 has the measurements.
        warnings.filterwarnings("ignore", ".*multi-threaded.*fork", DeprecationWarning)
        for process in processes:
            process.start()


def _preload(context: Any) -> None:
    """Let the server of forks load the package first, unless it runs or the program chose what it loads."""
    if _method(context) != "forkserver":
        return
    from multiprocessing import forkserver

    server: Any = forkserver._forkserver
    if server._preload_modules == ["__main__"]:
        context.set_forkserver_preload(_PRELOADED)


def _start_at_once(processes: list[Any]) -> None:
    """Start in threads: a process that is sent much data keeps its starter waiting until it is up."""
    errors: list[BaseException] = []

    def start(process: Any) -> None:
        try:
            process.start()
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that asked
            errors.append(error)

    threads = [threading.Thread(target=start, args=(process,)) for process in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        join_or_kill([p for p in processes if p.pid is not None], 0)
        raise _explained(errors[0])


def _explained(error: BaseException) -> BaseException:
    """What cannot be pickled is mostly a function without a name of its own: say so beside Python's words."""
    if isinstance(error, (pickle.PicklingError, AttributeError, TypeError)) and "pickle" in str(
        error
    ):
        error.add_note(
            "Workers that are not forked get the data set, sampler, collate_fn and worker_init_fn "
            "by pickle. A lambda or a "
            "function inside a function cannot be pickled: define it at the top of a module, or use "
            "multiprocessing_context='fork', or num_workers=0."
        )
    return error


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """New processes begin with SIGINT blocked, until they have decided to ignore it: Ctrl-C prints
    no traces of theirs.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class interrupts_put_off:
    """A context in which Ctrl-C waits: what is cleaned up inside is cleaned up whole.

    Afterwards the handler runs as ever; `aside` where the block is in a finalizer, whose exceptions
    Python swallows: then once the main thread is out of it.
    """

    def __init__(self, aside: bool) -> None:
        self.aside = aside
        self.came = False
        self.before: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():  # only there are handlers run
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self.before = signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: Any) -> None:
        self.came = True

    def __exit__(self, *_: object) -> None:
        if self.before is None:
            return
        signal.signal(signal.SIGINT, self.before)
        if not self.came:
            return
        if self.aside:
            inside = sys._getframe(1)
            caller = inside.f_back
            if caller is not None and caller.f_code is weakref.finalize.__call__.__code__:
                inside = caller
            # the interpreter ends: no thread can be started, none is needed
            with suppress(RuntimeError):  # out of memory: as little
                threading.Thread(target=_interrupt_behind, args=(inside,), daemon=True).start()
        else:
            signal.raise_signal(signal.SIGINT)


def _interrupt_behind(inside: FrameType) -> None:
    """Interrupt the main thread when that frame is no longer on its stack."""
    main = threading.main_thread().ident or 0
    frame: FrameType | None = inside
    while frame is not None:
        time.sleep(0.001)
        frame = sys._current_frames().get(main)
        while frame is not None and frame is not inside:
            frame = frame.f_back
    _thread.interrupt_main()


def join_or_kill(processes: list[Any], patience: float) -> None:
    """Wait until the processes have ended, `patience` seconds altogether, then end them."""
    end = time.monotonic() + patience
    try:
        for process in processes:
            process.join(max(0, end - time.monotonic()))
    finally:
        for process in processes:
            note_end(process)
        late = [process for process in processes if process.is_alive()]
        for process in late:
            process.kill()
        for process in late:
            process.join()
            note_end(process)
