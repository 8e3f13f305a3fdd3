"""Numbered cases in child processes, for the fuzzers: a case that kills or stops its child is told,
and the next goes on.

A script that runs cases calls itself again with `--child` and five words. There it notes each case
in a journal before it begins with it, so that the parent knows which one killed it, and prints what
came of them as a line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Death", "Outcome", "Range", "run_as_child", "supervise"]

_NOTE = 4096  # bytes of the journal: one note, over and over

Note = Callable[[int, str], None]
#: runs the cases of a range, notes each ahead, and gives (kind, finding or None) for each
Cases = Callable[["Range", Note], Iterable[tuple[str, Any]]]


@dataclass(frozen=True)
class Range:
    """`count` cases from number `first` on, of those that match `pattern`."""

    seed: int
    first: int
    count: int
    pattern: str


@dataclass(frozen=True)
class Death:
    """A case that its child did not survive: its note, and how the child ended."""

    number: int
    text: str
    ending: str


@dataclass
class Outcome:
    """How many cases came to which end; what the children found, and which cases they did not survive."""

    counts: Counter[str] = field(default_factory=Counter)
    found: list[Any] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)


# ---- in the child ----


def run_as_child(cases: Cases) -> bool:
    """If this process was started as a child: run its cases and print what came of them. Whether it was."""
    if sys.argv[1:2] != ["--child"]:
        return False
    seed, first, count, pattern, journal = sys.argv[2:]
    counts: Counter[str] = Counter()
    found = []
    with open(journal, "wb", buffering=0) as file:

        def note(number: int, text: str) -> None:
            line = f"{number} {text}"[: _NOTE - 96] + "\n"
            os.pwrite(file.fileno(), line.encode(errors="replace")[:_NOTE].ljust(_NOTE), 0)

        for kind, finding in cases(Range(int(seed), int(first), int(count), pattern), note):
            counts[kind] += 1
            found += [] if finding is None else [finding]
    print(json.dumps({"counts": counts, "found": found}))
    return True


# ---- in the parent ----


def supervise(script: str, cases: Range, folder: Path, limit: float) -> Outcome:
    """Run cases in children that have `limit` seconds each; a new child goes on behind each case
    that killed one.
    """
    outcome, first, end = Outcome(), cases.first, cases.first + cases.count
    while first < end:
        journal = folder / f"{cases.first}"
        words = [cases.seed, first, end - first, cases.pattern, journal]
        told, ending = _child([sys.executable, script, "--child", *map(str, words)], limit)
        if told is not None:
            outcome.counts += Counter(told["counts"])
            outcome.found += told["found"]
            break
        death = _last(journal, ending)
        outcome.deaths.append(death)
        outcome.counts += Counter({"death": 1, "before a death": death.number - first})
        first = death.number + 1
    return outcome


def _child(command: list[str], limit: float) -> tuple[Any, str]:
    """What a child printed, or how else it ended."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, f"did not end within {limit:.0f} s"
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1]), ""
    return None, f"died with status {done.returncode}: {done.stderr.strip()[-2000:]}"


def _last(journal: Path, ending: str) -> Death:
    """The case that a child had begun with."""
    text = journal.read_bytes().decode(errors="replace").rstrip() if journal.exists() else ""
    if not text:
        raise SystemExit(f"a child {ending}\nbefore its first case")
    journal.unlink()
    number, _, text = text.partition(" ")
    return Death(int(number), text, ending)
