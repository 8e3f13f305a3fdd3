"""Every default test, in one pytest process more at a time than there are processors: tests of ranks
and of killed processes wait for a sixth of the time.

    python tools/hold/tests_all.py [--processes 2] [--part 0/3] [--below FOLDER OR FILE ...]
                                   [--marked slow] [--without FOLDER ...] [--slowest 10] [pytest's words]

Files are dealt out in portions, each to a pytest of its own, the largest first: what one test
leaves behind in its process meets few others. Workers of one pytest (pytest-xdist) were tried:
their main module is not a file, so tests that start processes of their own, or send Ctrl-C to one,
fail there. A line tells of each portion; one that failed shows all that pytest said. The last words
name the slowest tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: so many portions, or a few more: enough that processes end at about the same time
PORTIONS = 32
WORDS = ("passed", "failed", "skipped", "error", "errors", "xfailed", "warnings")
# a line of pytest's list of the slowest tests: seconds, the phase, the test
SLOW = re.compile(r"^ *([0-9.]+)s (?:call|setup|teardown) +(.+)$", re.MULTILINE)
# pytest's status for a portion without any: all of its tests have a mark that is left out
NO_TESTS = 5

__all__ = ["Portion", "counts", "portions", "slowest"]


@dataclass(frozen=True)
class Portion:
    """Files of one package, relative to the root, and their size in bytes."""

    files: tuple[str, ...]
    size: int

    def __str__(self) -> str:
        more = f" to {self.files[-1]}" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"


def portions(files: Iterable[tuple[str, int]], most: int) -> list[Portion]:
    """Files with their sizes, in portions of one package each that stay below `most` bytes where a
    file does; the largest first.

    >>> [portion.files for portion in portions([("a/b/1", 5), ("a/b/2", 5), ("a/c/1", 9)], most=9)]
    [('a/c/1',), ('a/b/1',), ('a/b/2',)]
    """
    found: list[Portion] = []
    for _, group in groupby(sorted(files), lambda item: Path(item[0]).parts[:2]):
        chosen: list[tuple[str, int]] = []
        for item in group:
            if chosen and sum(size for _, size in chosen) + item[1] > most:
                found.append(_portion(chosen))
                chosen = []
            chosen.append(item)
        found.append(_portion(chosen))
    return sorted(found, key=lambda portion: (-portion.size, portion.files))


def _portion(items: Sequence[tuple[str, int]]) -> Portion:
    return Portion(tuple(name for name, _ in items), sum(size for _, size in items))


def counts(said: str) -> Counter[str]:
    """What pytest's last line counts.

    >>> counts("1 failed, 20 passed in 3.14s")
    Counter({'passed': 20, 'failed': 1})
    """
    last = said.strip().rpartition("\n")[2]
    found = re.findall(r"(\d+) (\w+)", last)
    return Counter({word: int(number) for number, word in found if word in WORDS})


def slowest(said: str) -> list[tuple[float, str]]:
    """Seconds and names of the tests in pytest's list of the slowest.

    >>> slowest("2.41s call     a/test_b.py::test_c[1 2]")
    [(2.41, 'a/test_b.py::test_c[1 2]')]
    """
    return [(float(seconds), name) for seconds, name in SLOW.findall(said)]


def run(portion: Portion, words: Sequence[str], base: Path, part: str = "") -> tuple[int, str]:
    """pytest's exit status and all it said; with a part, of that share of the tests.
    Temporary files of tests lie below `base`, apart for each process.
    """
    status, said = _pytest(portion, words, base, part)
    if status not in (0, NO_TESTS) and not counts(said):
        # it died, and what pytest had captured of its last words (a sanitizer's, say) died with it
        status, said = _pytest(portion, [*words, "-sv"], base, part)
    return status, said


def _pytest(portion: Portion, words: Sequence[str], base: Path, part: str) -> tuple[int, str]:
    folder = tempfile.mkdtemp(dir=base)
    command = [
        sys.executable,
        *(["tools/hold/share.py", part] if part else ["-m", "pytest"]),
        "-q",
        "-p",
        "no:cacheprovider",
        f"--basetemp={folder}/t",
        "--durations=0",
        "--durations-min=1",
    ]
    done = subprocess.run(
        [*command, *words, *portion.files],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def files_of_tests(
    below: Sequence[str], marked: str = "", without: Sequence[str] = ()
) -> list[tuple[str, int]]:
    """Every file of tests below these folders and its size; of all default tests without any.
    Those alone that set a mark, if one is named; none `without` some folders.
    """
    folders = [ROOT / name for name in below] or [
        *ROOT.glob("packages/*/tests"),
        ROOT / "tools" / "tests",
    ]
    paths = [path for folder in folders for path in _files_of(folder)]
    left_out = {ROOT / name for name in without}
    paths = [path for path in paths if left_out.isdisjoint(path.parents)]
    if marked:
        paths = [path for path in paths if f"pytest.mark.{marked}" in path.read_text()]
    return [(str(path.relative_to(ROOT)), path.stat().st_size) for path in paths]


def _files_of(place: Path) -> Iterable[Path]:
    return place.rglob("test_*.py") if place.is_dir() else [place]


def main(arguments: Sequence[str]) -> int:
    """Run all; 1 if a test failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--processes", type=int, default=(os.cpu_count() or 1) + 1)
    parser.add_argument(
        "--below", nargs="+", default=[], help="folders and files, relative to the root"
    )
    parser.add_argument("--portions", type=int, default=PORTIONS, help="about so many pytests")
    parser.add_argument("--marked", default="", help="only tests with this mark of pytest's")
    parser.add_argument("--without", nargs="+", default=[], help="folders that are left out")
    parser.add_argument("--slowest", type=int, default=10, help="so many slow tests are named")
    parser.add_argument("--part", default="", help="a share of the tests: 0/3 is a third of them")
    options, words = parser.parse_known_args(arguments)
    files = files_of_tests(options.below, options.marked, options.without)
    words += ["-m", options.marked] if options.marked else []
    parts = int(options.part.partition("/")[2] or 1)  # portions of a share are as long as others
    todo = portions(files, most=sum(size for _, size in files) * parts // options.portions)
    total: Counter[str] = Counter()
    start, failed = time.monotonic(), False
    slow: list[tuple[float, str]] = []
    with (
        tempfile.TemporaryDirectory() as base,
        ThreadPoolExecutor(options.processes) as pool,
    ):
        started = {
            pool.submit(run, portion, words, Path(base), options.part): portion for portion in todo
        }
        for number, future in enumerate(as_completed(started), 1):
            status, said = future.result()
            right = status in (0, NO_TESTS)
            failed |= not right
            total += counts(said)
            slow += slowest(said)
            if not right:
                print(said)
            last = said.strip().rpartition("\n")[2].strip("= ")
            print(f"[{number}/{len(todo)}] {started[future]}: {last}", flush=True)
    for seconds, name in sorted(slow, reverse=True)[: options.slowest]:
        print(f"{seconds:6.1f} s  {name}")
    print(f"in {time.monotonic() - start:.0f} s")
    wrong = total["failed"] + total["error"] + total["errors"] or int(failed)
    print(f"{total['passed']} passed, {wrong} failed, {total['skipped']} skipped")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
