"""Compile C files (or C++, or CUDA) into one shared library: in parallel, and only what changed.

An object is current while its command line and the content of every file that the compiler read for
it (`-MMD` names them) are what they were. Times of files do not count, so a branch switched back
and forth costs nothing. Two processes may build the same folder: one waits, and a killed one leaves
nothing that stands in the way. Standard library only, and nothing of taeda is imported, because
this file runs before taeda exists.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

__all__ = [
    "Build",
    "CompileError",
    "NotReady",
    "Unit",
    "build",
    "compiler",
    "locked",
    "python_include",
    "require_tools",
    "version",
]

CANDIDATES = ("cc", "gcc", "clang")
LEVELS = ("-O", "-fvect-cost-model=", "-foptimize-")  # flags that say how to optimize
HEADERS = ".headers"  # a folder for those that were read before their units
ENOUGH = 5  # units: to keep a header as it was read takes as long as to read it three times


class NotReady(RuntimeError):
    """This machine cannot compile. The text is three lines: what is missing, how to get it, what
    else works.
    """


class CompileError(RuntimeError):
    """The compiler refused a file. The text holds the command and what the compiler said."""


@dataclass(frozen=True)
class Unit:
    """One object: a source, flags of its own, and a tag that keeps two objects of one source apart.

    `compiler` compiles it instead of the build's own compiler, with `flags` alone: a `.cu` file
    goes to nvcc. `header` is one of the system that takes long to read, and that the source may be
    given before its first line.
    """

    source: Path
    flags: tuple[str, ...] = ()
    tag: str = ""
    compiler: tuple[str, ...] = ()
    header: str = ""

    def object_name(self) -> str:
        # Two folders may hold files of one name, so the folder takes part.
        folder = hashlib.sha256(str(self.source.parent).encode()).hexdigest()[:8]
        return "-".join(filter(None, (self.source.stem, self.tag, folder))) + ".o"


def require_tools() -> None:
    """Raise NotReady unless this Python can have the core, and a C compiler and Python's header are there."""
    require_lock()
    compiler()
    python_include()


def require_lock() -> None:
    """Raise NotReady for a free-threaded Python: the core relies on the interpreter's lock."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise NotReady(
            "taeda's core relies on Python's global interpreter lock, and this Python "
            f"({version}t) is a free-threaded "
            f"build, which has none.\nUse the ordinary build of Python {version}."
        )


def compiler() -> list[str]:
    """The compiler's command: $CC if set, else the first of cc, gcc and clang. NotReady if there is none."""
    for name in [os.environ["CC"]] if os.environ.get("CC") else CANDIDATES:
        command = shlex.split(name)
        if command and shutil.which(command[0]):
            return command
    looked = f"$CC = {os.environ['CC']!r}" if os.environ.get("CC") else ", ".join(CANDIDATES)
    raise NotReady(
        f"taeda's core is built from C, and there is no C compiler here (looked for {looked}).\n"
        "Get one: `apt install gcc` (Debian, Ubuntu), `dnf install gcc` (Fedora), `xcode-select "
        "--install` (macOS).\n"
        "Then run the same command again; a ready-made wheel of taeda-core needs no compiler."
    )


def python_include() -> Path:
    """The folder of Python.h of the running interpreter. NotReady if the header is not installed."""
    folder = Path(sysconfig.get_path("include"))
    if (folder / "Python.h").is_file():
        return folder
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    raise NotReady(
        f"taeda's tensor is a C type, and Python.h of Python {version} is not installed (looked in "
        f"{folder}).\n"
        f"Get it: `apt install python{version}-dev` (Debian, Ubuntu), `dnf install "
        f"python{version}-devel` (Fedora).\n"
        "Then run the same command again; a ready-made wheel of taeda-core needs no headers."
    )


def build(
    units: Sequence[Unit],
    out: Path,
    folder: Path,
    cflags: Sequence[str],
    ldflags: Sequence[str],
    *,
    progress: Callable[[str], object] = lambda line: None,
) -> Path:
    """Compile `units` with objects in `folder`, link them to the shared library `out`, return `out`.

    What is current is not done again. `out` is replaced in one step, so whoever has the old library loaded
    keeps it. Raises NotReady without a compiler, CompileError with the compiler's own words.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        state = Build(folder, compiler(), cflags, progress=progress)
        return state.link(state.compile(units), out, ("-shared", *ldflags))


class Build:
    """A build in `folder`, whose lock the caller holds: the compiler, its version, the digests of
    files read so far.

    `say` receives what compilers print and is called from several threads; `progress` gets a line
    for each step, which says how many files are left.
    """

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        cflags: Sequence[str] = (),
        *,
        jobs: int | None = None,
        say: Callable[[str], object] = sys.stderr.write,
        progress: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.folder, self.command, self.cflags = folder, tuple(command), tuple(cflags)
        self.jobs, self.say, self.progress = jobs or _jobs(), say, progress
        self.digest = cache(_digest)  # a header is read once a build, not once an object

    def compile(self, units: Sequence[Unit]) -> list[Path]:
        """Bring every object up to date and return them.
        CompileError holds what was said about all that failed.
        """
        with ThreadPoolExecutor(self.jobs) as threads:
            current = list(threads.map(self._current, units))
            due = [unit for unit, fresh in zip(units, current, strict=True) if not fresh]
            steps = count(1)
            with self._headers(due) as given:
                tried = [
                    threads.submit(
                        self._compile, unit, given.get(_shared(unit), ()), steps, len(due)
                    )
                    for unit in due
                ]
                wait(tried)
        errors = [error for one in tried if isinstance(error := one.exception(), CompileError)]
        if errors:
            raise CompileError("\n".join(map(str, errors)))
        for one in tried:
            one.result()  # raises what is no CompileError
        return [self._target(unit) for unit in units]

    def commands(self, units: Sequence[Unit]) -> list[dict[str, str]]:
        """What `compile` would run, in the form of a `compile_commands.json`, which editors read."""
        return [
            {
                "directory": str(self.folder),
                "file": str(unit.source),
                "output": str(self._target(unit)),
                "command": shlex.join(self._command(unit)),
            }
            for unit in units
        ]

    def _target(self, unit: Unit) -> Path:
        return self.folder / unit.object_name()

    def _command(self, unit: Unit, given: tuple[str, ...] = ()) -> list[str]:
        compiler = unit.compiler or (*self.command, *self.cflags)
        return [*compiler, *given, *unit.flags, "-c", str(unit.source)]

    def _key(self, unit: Unit) -> list[str]:
        return [version(unit.compiler[:1] or self.command), *self._command(unit)]

    @contextlib.contextmanager
    def _headers(self, due: Sequence[Unit]) -> Iterator[dict[tuple[str, ...], tuple[str, ...]]]:
        """Flags that give units the header that they share as it was read once; it is gone when
        they are done.

        They change no object, so they belong to no key. A cache of objects works without them: it
        knows an object by what the compiler reads for it.
        """
        folder = self.folder / HEADERS
        shutil.rmtree(folder, ignore_errors=True)  # of a killed build
        shared = Counter(_shared(unit) for unit in due if unit.header and not unit.compiler)
        often = [key for key, n in shared.items() if n >= ENOUGH]
        given: dict[tuple[str, ...], tuple[str, ...]] = {}
        try:
            for number, key in enumerate([] if "ccache" in self.command[0] else often):
                header = folder / f"{number}.h"
                folder.mkdir(exist_ok=True)
                header.write_text(f"#include <{key[-1]}>\n")  # half-written: nobody includes it
                command = [*(*self.command, *self.cflags), *key[:-1], "-x", "c-header", str(header)]
                with contextlib.suppress(CompileError):  # each unit reads it, or says what is wrong
                    _run([*command, "-o", f"{header}.gch"], self.folder)
                    given[key] = ("-include", str(header))
            yield given
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _compile(self, unit: Unit, given: tuple[str, ...], steps: Iterator[int], due: int) -> None:
        # A header that was read before must come first: after any other line GCC reads its text.
        target, command = self._target(unit), self._command(unit, given)
        what = f"{unit.source.name} ({unit.tag})" if unit.tag else unit.source.name
        self.progress(f"compiling {next(steps)} of {due}: {what}")
        # Named by the process: the compiler that a killed build left running writes elsewhere.
        temporary, depends = (_sibling(target, f"{os.getpid()}.{end}") for end in "od")
        try:
            said = _run([*command, "-MMD", "-MF", str(depends), "-o", str(temporary)], self.folder)
            # A compiler wrapper may name files relative to where it ran; an absolute name stays itself.
            names = [str(self.folder / name) for name in _dependencies(depends)]
            # that of a header which was read before is gone when the build is done
            names = [name for name in names if Path(name).parent.name != HEADERS]
            inputs = {name: self.digest(name) for name in names}
            self._finish(temporary, target, self._key(unit), inputs)
        finally:
            temporary.unlink(missing_ok=True)
            depends.unlink(missing_ok=True)
        if said:
            self.say(said)

    def link(self, objects: Sequence[Path], out: Path, ldflags: Sequence[str]) -> Path:
        """Link `objects` to `out` unless it is what they would give, and return it."""
        out.parent.mkdir(parents=True, exist_ok=True)
        stamp = self.folder / (out.name + ".link")
        key = f"{self.link_key(objects, ldflags)}\n{out}"
        if out.is_file() and _read(stamp) == f"{key}\n{_digest(str(out))}":
            return out
        self.progress(f"linking {out.name}")
        temporary = _sibling(out, str(os.getpid()))
        try:
            _run([*self.command, *map(str, objects), *ldflags, "-o", str(temporary)])
            made = _digest(str(temporary))
            os.replace(temporary, out)
        finally:
            temporary.unlink(missing_ok=True)
        stamp.write_text(f"{key}\n{made}")  # half-written: differs, so it links again
        return out

    def link_key(self, objects: Sequence[Path], ldflags: Sequence[str]) -> str:
        """What the linked file depends on: two builds with one key give one library."""
        inputs = {str(path): _digest(str(path)) for path in objects}
        return json.dumps([version(self.command), self.command, list(ldflags), inputs])

    def _current(self, unit: Unit) -> bool:
        target = self._target(unit)
        record = _read(target.with_suffix(".key"))
        if not record or not target.is_file():
            return False
        known = json.loads(record)
        return known["command"] == self._key(unit) and all(
            self.digest(name) == value for name, value in known["inputs"].items()
        )

    def _finish(
        self, temporary: Path, target: Path, command: list[str], inputs: dict[str, str]
    ) -> None:
        key = target.with_suffix(".key")
        # a build killed between the next two lines leaves no key, so no lie
        key.unlink(missing_ok=True)
        os.replace(temporary, target)
        record = json.dumps({"command": command, "inputs": inputs})
        key.write_text(record)  # half-written: no key, so it compiles again


def _shared(unit: Unit) -> tuple[str, ...]:
    """Units of the build's compiler for which this is the same read their header alike, whatever
    their level: how a function is optimized is not kept with what was read, but for whether it is
    at all, which macros tell.
    """
    read = (flag for flag in unit.flags if flag == "-O0" or not flag.startswith(LEVELS))
    return (*read, "" if unit.compiler else unit.header)


def version(command: Sequence[str]) -> str:
    """What a compiler says of itself. Asked once a process, and again when its file changed."""
    file = shutil.which(command[0])
    return _version(tuple(command), os.stat(file).st_mtime_ns if file else 0)


@cache
def _version(command: tuple[str, ...], stamp: int) -> str:
    return _run([*command, "--version"])


def _sibling(path: Path, end: str) -> Path:
    """A temporary name beside `path`. What killed builds left under such names goes; the caller
    holds the lock.
    """
    for left in path.parent.glob(f".{path.name}.*"):
        left.unlink(missing_ok=True)
    return path.with_name(f".{path.name}.{end}")


def _run(command: list[str], cwd: Path | None = None) -> str:
    """Run and return what was said on both streams. CompileError if the status is not 0."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=cwd
    )
    if done.returncode:
        raise CompileError(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout


def _dependencies(path: Path) -> list[str]:
    """The files a make rule `target: a b \\ c` names; a space inside a name is written `\\ `."""
    text = path.read_text().replace("\\\n", " ").partition(": ")[2]
    return [name.replace("\0", " ") for name in text.replace("\\ ", "\0").split()]


def _digest(name: str) -> str:
    try:
        return hashlib.sha256(Path(name).read_bytes()).hexdigest()
    except FileNotFoundError:
        return "gone"


def _read(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _jobs() -> int:
    if wanted := os.environ.get("TAEDA_JOBS"):
        return max(1, int(wanted))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` against other processes. Touches no file that is there."""
    with (folder / ".lock").open("a") as handle:  # half-written: nothing is written
        # freed by the system when the process ends, however it ends
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
