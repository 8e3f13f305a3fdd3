"""Who compiles chains: asked by core after the third run of one, in a thread that ends when there
is nothing to do.

core: a chain ran three times ─▶ `asked` ─▶ thread: text ─▶ library of the folder, or a run of the
compiler ─▶ core: its function, which is timed against the loops and taken if it is faster

A forked child compiles nothing: what its parent had then, it has.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import taeda
from taeda._core_api import chains as _core

from .. import config
from .._errors import NoText
from .._logs import log_of
from . import compiler as cc
from . import folder as libraries
from .text import SYMBOL, ChainText, of_chain

__all__ = ["asked", "explained", "is_pending", "reason"]

_ASKED, _TRIED = (_core.chain_states[name] for name in ("ASKED", "TRIED"))
_HOW = (
    "",
    "is being compiled",
    "is compiled and timed",
    "runs as C",
    "runs loop by loop",
    "runs loop by loop, as C gave other bits",
)  # by the state of a chain
_log = log_of("inductor")


class _State:
    """Of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiting: list[int] = []
        self.making: int | None = None
        self.thread: threading.Thread | None = None
        self.reasons: dict[int, str] = {}  # why a chain stays with its loops
        self.running: list[subprocess.Popen[bytes]] = []
        self.libraries: list[ctypes.CDLL] = []  # as long as the process: core has their addresses
        self.broken = ""  # why the compiler is not tried again
        self.forked = self.ends = False


_state = _State()


def reason(number: int) -> str:
    """Why a chain stays with its loops; empty if it need not."""
    return _state.reasons.get(number, "")


def is_pending(number: int) -> bool:
    """Whether it is not decided yet how a chain runs."""
    if config.chains == "off" or _state.forked:
        return False
    return _core.get_chain(number)[2] in (_ASKED, _TRIED)


def _in_child() -> None:
    """Locks and threads of the parent are not here."""
    global _state
    libraries, reasons = _state.libraries, _state.reasons
    _state = _State()
    _state.libraries, _state.reasons, _state.forked = libraries, reasons, True


def _at_exit() -> None:
    _state.ends = True
    for child in list(_state.running):
        cc.stop(child)
    thread = _state.thread
    if thread is not None and not _state.forked:
        thread.join(5)


def asked() -> None:
    """Core has chains that wait to be compiled; what `config.chains` says is done about them."""
    state = _state
    if config.chains == "off" or state.forked or state.ends:
        return
    if config.chains == "wait":
        for number in _core.get_asked_chains():
            _make(state, number)
        return
    with state.lock:
        known = {*state.waiting, state.making}
        state.waiting += [n for n in _core.get_asked_chains() if n not in known]
        if state.thread is None:
            thread = threading.Thread(target=_work, args=(state,), name="taeda-chains", daemon=True)
            try:
                thread.start()
            except MemoryError:
                raise
            except RuntimeError as error:  # too many, or the interpreter ends: at the next chain
                _log.info("chains are not compiled now: %s", error)
                return
            state.thread = thread


def _work(state: _State) -> None:
    try:
        while (number := _next(state)) is not None:
            _make(state, number)
    except BaseException:
        with state.lock:
            state.thread = state.making = None
        raise


def _next(state: _State) -> int | None:
    """The next chain; without one the thread is at its end, and known to be."""
    with state.lock:
        state.making = None if state.ends or not state.waiting else state.waiting.pop(0)
        if state.making is None:
            state.thread = None
        return state.making


def _make(state: _State, number: int) -> None:
    """Give a chain its function, or leave it to its loops and say why."""
    try:
        loops, kept, *_ = _core.get_chain(number)
        library = _library(state, of_chain(loops, kept))
        address = ctypes.cast(getattr(library, SYMBOL), ctypes.c_void_p).value
    except (NoText, cc.Failed) as why:
        state.reasons[number] = str(why)
        _core.give_chain(number, 0, False)
        _log.info("a chain of elementwise operations stays with its loops: %s", why)
        return
    except BaseException:
        _core.give_chain(number, 0, False)
        raise
    _core.give_chain(number, address or 0, config.chains == "wait")


def _library(state: _State, text: ChainText) -> ctypes.CDLL:
    compiler = cc.found()
    if compiler is None:
        raise cc.Failed("there is no C compiler (CC, cc, gcc or clang)")
    kind = taeda.backends.cpu.get_cpu_capability()
    options = cc.flags(kind)
    name = libraries.digest(
        text.whole, compiler.identity, repr(options), kind, platform.machine(), taeda.__version__
    )
    kept = libraries.find(name)
    if kept is not None:
        try:
            return _opened(state, kept)
        except cc.Failed as why:  # from a disk of which nothing may run, say
            _log.info("a chain is compiled once more: %s", why)
    if state.broken:
        raise cc.Failed(state.broken)
    try:
        return _compiled(state, compiler, options, text, name)
    except cc.Failed as why:
        if not state.ends:
            state.broken = str(why)
            _log.warning("chains of elementwise operations stay with their loops: %s", why)
        raise


def _compiled(
    state: _State,
    compiler: cc.Compiler,
    options: tuple[str, ...],
    text: ChainText,
    name: str,
) -> ctypes.CDLL:
    """A library that opens, which is kept under that name."""
    folder = tempfile.mkdtemp(prefix="taeda-chain-")  # no object that a forked child would end
    try:
        made = cc.compile_text(compiler, options, text.whole, Path(folder), state.running)
        library = _opened(state, made)  # its file may go then
        libraries.keep(name, made)
        return library
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _opened(state: _State, path: Path) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(os.fspath(path))
        getattr(library, SYMBOL)
    except (OSError, AttributeError) as error:
        raise cc.Failed(f"{path} is no library of a chain: {error}") from None
    state.libraries.append(library)
    return library


def explained(program: Any, lines: list[str]) -> list[str]:
    """In words: the chains of a program's last run, with the lines of the user beside them."""
    numbers: tuple[int, ...] = getattr(program, "chains", tuple)()
    found = []
    for number in dict.fromkeys(n for n in numbers if n >= 0):
        notes = tuple(line for n, line in zip(numbers, lines, strict=True) if n == number)
        found.append(_told(number, notes))
    return found


def _told(number: int, notes: tuple[str, ...]) -> str:
    loops, kept, state, *seconds = _core.get_chain(number)
    how = _HOW[state]
    title = f"chain of {len(loops)} operations" + (f", {how}" if how else "")
    if reason(number):
        return f"{title}: {reason(number)}"
    if state >= _TRIED and max(seconds) < 1:
        title += " ({:.3f} ns an element loop by loop, {:.3f} as C)".format(
            *(s * 1e9 for s in seconds)
        )
    try:
        return f"{title}\n{of_chain(loops, kept, notes).own}"
    except NoText as why:
        return f"{title}: {why}"


os.register_at_fork(after_in_child=_in_child)
atexit.register(_at_exit)
