"""Starting worker processes: which start method, several at once, and how they end."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import BaseContext
from typing import Any

__all__ = ["checked_context", "default_context", "join_or_kill", "start_all"]

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

    A process that has an accelerator open cannot be forked: there it is the server, too. The reasons are in the decision
    page on start methods.
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
    processes = [
        context.Process(target=function, args=arguments, daemon=True, name=f"{name}-{i}")
        for i, (function, arguments) in enumerate(targets)
    ]
    with _interrupts_held_back():
        if _method(context) == "fork":
            _fork(processes)
        else:
            _preload(context)
            _start_at_once(processes)
    return processes


def _method(context: Any) -> str:
    return context.get_start_method()


def _fork(processes: list[Any]) -> None:
    with warnings.catch_warnings():
        # Python warns of threads in the parent. Ours survive a fork, and a worker runs nothing before its own code;
        # decision page 0013 has the measurements.
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
        raise errors[0]


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """New processes begin with SIGINT blocked, until they have decided to ignore it: Ctrl-C prints no traces of theirs."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def join_or_kill(processes: list[Any], patience: float) -> None:
    """Wait until the processes have ended, `patience` seconds altogether, then end them."""
    end = time.monotonic() + patience
    for process in processes:
        process.join(max(0, end - time.monotonic()))
    late = [process for process in processes if process.is_alive()]
    for process in late:
        process.kill()
    for process in late:
        process.join()
