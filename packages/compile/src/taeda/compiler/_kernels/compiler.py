"""The system's C compiler: which one it is, and one run of it, as a niced child with a time limit."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SECONDS", "Compiler", "Failed", "compile_text", "flags", "found", "stop"]

SECONDS = 60.0  # a run may take that long
_SAID = 2000  # characters of what the compiler says
_NAMES = ("cc", "gcc", "clang")
_FLAGS = (
    *("-O3", "-std=gnu11", "-fPIC", "-shared", "-w"),
    # as core's kernels are compiled: no instruction set fuses what another does not
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
)
_SETS = {
    "AVX2": ("-mavx2", "-mfma", "-mf16c"),
    "AVX512": (
        *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c"),
        "-mprefer-vector-width=512",
    ),
}


class Failed(Exception):
    """Why a run of the compiler made no library."""


@dataclass(frozen=True)
class Compiler:
    """The words that call it; `identity` changes when another program lies there."""

    words: tuple[str, ...]
    identity: str


def found() -> Compiler | None:
    """`CC`, else the first of cc, gcc and clang; None without one. Failed for a CC that is no
    command.
    """
    try:
        named = shlex.split(os.environ.get("CC", ""))
    except ValueError as error:
        raise Failed(f"CC={os.environ['CC']!r} is no command: {error}") from None
    for words in (named,) if named else ((name,) for name in _NAMES):
        if shutil.which(words[0]):
            return Compiler(tuple(words), _identity(words))
    return None


def _identity(words: list[str] | tuple[str, ...]) -> str:
    """Of each word that is a program (as both of `ccache gcc`): its file, size and time."""
    parts = []
    for word in words:
        path = shutil.which(word)
        if path is None:
            parts.append(word)
            continue
        real = os.path.realpath(path)
        status = os.stat(real)
        parts.append(f"{real} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(parts)


def flags(instruction_set: str) -> tuple[str, ...]:
    """Flags for the instruction set whose kernels are in use."""
    return (*_FLAGS, *_SETS.get(instruction_set, ("-Wno-psabi",)))


def compile_text(
    compiler: Compiler,
    options: tuple[str, ...],
    text: str,
    folder: Path,
    running: list[subprocess.Popen[bytes]],
    seconds: float = SECONDS,
) -> Path:
    """A library in `folder`. Failed says what went wrong; the child stands in `running` meanwhile."""
    source, target = folder / "chain.c", folder / "chain.so"
    source.write_text(text)  # half-written: a folder of its own, which is read after this
    command = [*compiler.words, *options, "-o", str(target), str(source), "-lm"]
    if shutil.which(command[0]) is None:
        raise Failed(f"{command[0]} does not run: there is no such program")
    try:
        child = subprocess.Popen(
            [*_nice(), *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,
        )
    except OSError as error:
        raise Failed(f"{command[0]} does not run: {error}") from None
    running.append(child)
    try:
        said = _wait(child, command[0], seconds)
    finally:
        running.remove(child)
    if child.returncode != 0 or not target.is_file():
        how = f"signal {-child.returncode}" if child.returncode < 0 else f"{child.returncode}"
        raise Failed(f"{command[0]} ended with {how}: {said.strip()[:_SAID] or 'it said nothing'}")
    return target


def _nice() -> tuple[str, ...]:
    """What gives a command, and all that it starts, a low priority from its first moment on."""
    return ("nice", "-n", "10") if shutil.which("nice") else ()


def _wait(child: subprocess.Popen[bytes], name: str, seconds: float) -> str:
    try:
        _, said = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        stop(child)
        if child.stderr is not None:  # somebody who left the group may hold its other end
            child.stderr.close()
        raise Failed(f"{name} ran for more than {seconds:g} seconds") from None
    return said.decode(errors="replace")


def stop(child: subprocess.Popen[bytes]) -> None:
    """End a child and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # gone already
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
