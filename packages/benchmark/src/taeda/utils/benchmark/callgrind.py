"""Instruction counts of a statement, from Valgrind's Callgrind.

The statement runs in a process of its own, because Valgrind must start it. Only what happens inside
one C function of the core is counted (`_native.measured_region`, which Callgrind toggles on by its
name), so neither the start of the interpreter nor the setup is in the figures.
"""

from __future__ import annotations

import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from taeda import Tensor

from .function_counts import FunctionCount, FunctionCounts
from .measurement import TaskSpec

__all__ = ["CallgrindStats", "CopyIfCallgrind", "collect"]

REGION = "taeda_measured_region"
_TOOLS = ("valgrind", "callgrind_control", "callgrind_annotate")
_ROW = re.compile(r"^\s*([\d,]+)\s+(?:\([^)]*\)\s+)?(?:[<>*]\s+)?(\S.*:.+)$")
_BUILTIN = (int, float, complex, bool, str, bytes, type(None))


@dataclass(frozen=True)
class CopyIfCallgrind:
    """Marks a value of `globals` that may be copied into another process; `setup` runs there before
    it is unpacked.

    >>> from taeda.utils.benchmark import Timer
    >>> Timer("f(2)", globals={"f": CopyIfCallgrind(abs)}).timeit(2).number_per_run
    2
    """

    value: Any
    setup: str | None = None

    def __post_init__(self) -> None:
        if not _portable(self.value):
            raise ValueError(
                f"CopyIfCallgrind carries builtins, tensors and modules, got {type(self.value).__name__}; "
                "make other values in `setup`"
            )


@dataclass(frozen=True)
class CallgrindStats:
    """Instructions of `number_per_run` runs of a statement, and of as many runs of an empty one.

    >>> from taeda.utils.benchmark import FunctionCount, FunctionCounts, TaskSpec
    >>> none = FunctionCounts((), inclusive=False)
    >>> some = FunctionCounts((FunctionCount(30, "f.c:run"),), inclusive=False)
    >>> stats = CallgrindStats(TaskSpec("f()", "pass"), 1, True, none, none, some, some, None)
    >>> stats.counts()
    30
    """

    task_spec: TaskSpec
    number_per_run: int
    built_with_debug_symbols: bool
    baseline_inclusive_stats: FunctionCounts
    baseline_exclusive_stats: FunctionCounts
    stmt_inclusive_stats: FunctionCounts
    stmt_exclusive_stats: FunctionCounts
    stmt_callgrind_out: str | None

    def stats(self, inclusive: bool = False) -> FunctionCounts:
        """Counts by function. `inclusive` counts callees for their callers too: where the time goes."""
        return self.stmt_inclusive_stats if inclusive else self.stmt_exclusive_stats

    def counts(self, *, denoise: bool = False) -> int:
        """All instructions of the statement; `denoise` as in `FunctionCounts.denoise`."""
        return (self.stats().denoise() if denoise else self.stats()).sum()

    def delta(self, other: CallgrindStats, inclusive: bool = False) -> FunctionCounts:
        """What this one executes more than `other`, by function."""
        return self.stats(inclusive) - other.stats(inclusive)

    def as_standardized(self) -> CallgrindStats:
        """The same without paths and library names, so that results of two builds cancel out."""

        def plain(counts: FunctionCounts) -> FunctionCounts:
            return counts.transform(_without_paths)

        return CallgrindStats(
            self.task_spec,
            self.number_per_run,
            self.built_with_debug_symbols,
            plain(self.baseline_inclusive_stats),
            plain(self.baseline_exclusive_stats),
            plain(self.stmt_inclusive_stats),
            plain(self.stmt_exclusive_stats),
            self.stmt_callgrind_out,
        )

    def __repr__(self) -> str:
        empty = self.baseline_exclusive_stats
        rows = [("Instructions:", self.counts(), self.counts(denoise=True))]
        if len(empty):
            rows.append(("Baseline:", empty.sum(), empty.denoise().sum()))
        lines = [f"  {name:14}{all_:>14}{quiet:>24}" for name, all_, quiet in rows]
        threads = self.task_spec.num_threads
        ending = (
            f"{self.number_per_run} runs per measurement, {threads} thread{'s' * (threads != 1)}"
        )
        head = f"  {'':14}{'All':>14}{'without noisy look-ups':>24}"
        return "\n".join([self.task_spec.summarize(), head, *lines, ending])


def collect(
    spec: TaskSpec, given: dict[str, Any], number: int, repeats: int, baseline: bool, keep: bool
) -> tuple[CallgrindStats, ...]:
    """Run `spec` under Callgrind `repeats` times.
    OSError without its tools, ValueError for values that cannot go along.
    """
    _require_tools()
    packed = [(name, *_pack(name, value)) for name, value in given.items()]
    empty = _baseline(number, spec.num_threads) if baseline else (_nothing(True), _nothing(False))
    found = [_count(spec, packed, number, keep) for _ in range(repeats)]
    return tuple(
        CallgrindStats(spec, number, True, *empty, inclusive, exclusive, out)
        for inclusive, exclusive, out in found
    )


def _require_tools() -> None:
    missing = [name for name in _TOOLS if shutil.which(name) is None]
    if missing:
        raise OSError(
            f"collect_callgrind needs {', '.join(_TOOLS)}; missing: {', '.join(missing)}. "
            "They come with Valgrind (Debian, Ubuntu: apt install valgrind)."
        )


def _portable(value: Any) -> bool:
    nn = sys.modules.get("taeda.nn")  # a Module can only be here if its package is loaded
    modules = (nn.Module,) if nn else ()
    if isinstance(value, (list, tuple, set)):
        return all(map(_portable, value))
    if isinstance(value, dict):
        return all(_portable(part) for pair in value.items() for part in pair)
    return isinstance(value, (*_BUILTIN, BuiltinFunctionType, Tensor, *modules))


def _pack(name: str, value: Any) -> tuple[str, bytes]:
    """(setup that must run first, the value's bytes)"""
    if isinstance(value, CopyIfCallgrind):
        return value.setup or "", pickle.dumps(value.value)
    if type(value) in _BUILTIN:
        return "", pickle.dumps(value)
    raise ValueError(
        f"globals[{name!r}] is a {type(value).__name__}, and Callgrind runs another process: "
        f"wrap it as CopyIfCallgrind(...), or make it in `setup`"
    )


@cache
def _baseline(number: int, threads: int) -> tuple[FunctionCounts, FunctionCounts]:
    """Counts of an empty statement, the same for every Timer."""
    spec = TaskSpec("pass", "pass", num_threads=threads)
    return _count(spec, [], number, keep=False)[:2]


def _count(
    spec: TaskSpec, packed: list[tuple[str, str, bytes]], number: int, keep: bool
) -> tuple[FunctionCounts, FunctionCounts, str | None]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "callgrind.out"
        task = {
            "stmt": spec.stmt,
            "setup": spec.setup,
            "threads": spec.num_threads,
            "number": number,
            "globals": packed,
        }
        (folder / "task").write_bytes(pickle.dumps(task))  # half-written: read by our child only
        child = Path(__file__).with_name("_callgrind_child.py")
        _run(
            *(
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={out}",
                f"--toggle-collect={REGION}",
            ),
            *("--dump-instr=no", sys.executable, str(child), str(folder / "task")),
        )
        both = _annotated(out, inclusive=True), _annotated(out, inclusive=False)
        return *both, out.read_text() if keep else None


def _annotated(out: Path, inclusive: bool) -> FunctionCounts:
    text = _run(
        *("callgrind_annotate", f"--inclusive={'yes' if inclusive else 'no'}", "--threshold=100"),
        *("--auto=no", "--show=Ir", str(out)),
    )
    rows = text.partition("file:function")[2].splitlines()
    found = [
        FunctionCount(int(match[1].replace(",", "")), match[2].strip())
        for match in map(_ROW.match, rows)
        if match
    ]
    return FunctionCounts(sorted(found, reverse=True), inclusive)


def _nothing(inclusive: bool) -> FunctionCounts:
    return FunctionCounts((), inclusive)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(
            f"{command[0]} ended with status {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def _without_paths(name: str) -> str:
    """
    >>> _without_paths("/build/python/Objects/dictobject.c:lookup [/usr/lib/libpython3.so]")
    'Objects/dictobject.c:lookup'
    """
    name = re.sub(r"\s*\[[^\]]*\]\s*$", "", name)
    file, _, function = name.rpartition(":")
    return f"{'/'.join(Path(file).parts[-2:])}:{function}" if file else function
