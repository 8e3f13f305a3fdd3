"""This build beside another one: a sweep over every kind of kernel, which finds what became slower.

    python benchmarks/builds.py OTHER                 OTHER is a Python in whose environment the
                                                      other build is installed
    python benchmarks/builds.py OTHER --case "^cast"  cases whose name matches
    python benchmarks/builds.py --native FOLDER       the same packages with the library of that
                                                      folder (TAEDA_NATIVE)

Groups of `run.py` hold what programs do; a kernel that no group names can become five times slower
unseen. Here are 648 cases of about a million elements, on one thread, by the thread's processor
time: least of three turns, so that other work on the machine counts little. Ratios are this build
to the other: above 1, this one is slower. What stays above 1.1 wants a look, and a second run.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve()
TURNS, BLOCK = 3, 0.02


class Build:
    """A process that times cases with one build."""

    def __init__(self, python: str, native: str = "") -> None:
        env = {**os.environ, **({"TAEDA_NATIVE": native} if native else {})}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [python, str(HERE), "--worker"], stdin=pipe, stdout=pipe, text=True, env=env
        )
        self.names: list[str] = json.loads(self._line())

    def _line(self) -> str:
        assert self.process.stdout is not None
        if line := self.process.stdout.readline():
            return line
        raise SystemExit(f"a worker ended with status {self.process.wait()}")

    def seconds(self, name: str) -> float:
        """Of a call; NaN if this build cannot run the case."""
        assert self.process.stdin is not None
        print(name, file=self.process.stdin, flush=True)
        return float(self._line())


def work() -> None:
    """The worker: names of the cases, then a time for each name it reads."""
    from sweep import cases

    import taeda

    taeda.set_num_threads(1)
    table = cases(taeda)
    print(json.dumps(list(table)), flush=True)
    for line in sys.stdin:
        print(least(table[line.strip()]), flush=True)


def least(call: Callable[[], object]) -> float:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - an older build lacks operators; the case is listed as not run
        print(repr(error), file=sys.stderr)
        return math.nan
    best, total, calls = math.inf, 0.0, 0
    while calls < 3 or (total < BLOCK and calls < 40):
        start = time.thread_time()
        call()
        spent = time.thread_time() - start
        best, total, calls = min(best, spent), total + spent, calls + 1
    return best


def compare(name: str, builds: tuple[Build, Build]) -> tuple[float, float]:
    """Least seconds of a call with this and the other build, who begin in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(TURNS):
        for k in (0, 1) if turn % 2 else (1, 0):
            times[k].append(builds[k].seconds(name))
    return min(times[0]), min(times[1])


def show(rows: list[tuple[float, str, float, float]], above: float) -> None:
    rows.sort(reverse=True)
    mean = math.exp(sum(math.log(ratio) for ratio, *_ in rows) / len(rows))
    print(f"{'case':24} {'this us':>10} {'other us':>10}  ratio")
    for ratio, name, ours, others in rows:
        if ratio > above:
            print(f"{name:24} {ours * 1e6:10.1f} {others * 1e6:10.1f}  {ratio:5.2f}")
    print(f"{len(rows)} cases, geometric mean {mean:.2f}; shown: above {above}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("other", nargs="?", default=sys.executable)
    parser.add_argument("--native", default="", help="the other build's library: a folder")
    parser.add_argument("--case", default="", help="cases whose name matches this expression")
    parser.add_argument("--above", type=float, default=1.1, help="show ratios above this")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work()
        return
    builds = Build(sys.executable), Build(options.other, options.native)
    names = [n for n in builds[0].names if n in builds[1].names and re.search(options.case, n)]
    rows, without = [], []
    for place, name in enumerate(names, 1):
        print(f"\r{place}/{len(names)} {name:24}", end="", file=sys.stderr, flush=True)
        ours, others = compare(name, builds)
        if math.isnan(ours + others):
            without.append(name)
        else:
            rows.append((ours / others, name, ours, others))
    print("\r", end="", file=sys.stderr)
    if rows:
        show(rows, options.above)
    if without:
        print("one of the builds cannot run", ", ".join(without))


if __name__ == "__main__":
    main()
