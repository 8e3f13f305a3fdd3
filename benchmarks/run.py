"""Times of taeda, and their ratios to torch. Below 1, taeda is faster.

    python benchmarks/run.py                        every case
    python benchmarks/run.py overhead conv          these groups
    python benchmarks/run.py --case "softmax"       cases whose name holds this
    python benchmarks/run.py --alone                taeda only, where torch is not installed
    python benchmarks/run.py --threads 1 --clock processor   on a machine that others use
    python benchmarks/run.py --device cuda          on a GPU, until it has done its work

Each library lives in a process of its own. They take turns, a block of about 20 ms each, so that
both meet the same noise; a case's ratio is the median over the rounds of the ratio within one
round. The time shown is the median of ours, and `share` the part of it that the machine needs at
the least: limits.py says how that is measured and counted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cases_kinds  # noqa: F401  # its cases join the table
from cases import CASES
from limits import Limits, measured

from taeda.utils.benchmark import Measurement, TaskSpec
from taeda.utils.benchmark._units import spelled_time
from taeda.utils.benchmark.measurement import quantile

HERE = Path(__file__).resolve().parent
BLOCK = 0.02  # seconds


class Worker:
    """The other end of worker.py."""

    def __init__(
        self, library: str, threads: int, clock: str = "wall", device: str = "cpu"
    ) -> None:
        self.library = library
        env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, str(HERE / "worker.py"), library, str(threads), clock, device]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(
                f"the process of {self.library} ended with status {self.process.wait()}"
            )
        return json.loads(line)

    def time(self, group: str, case: str, loops: int) -> float:
        answer = self.ask(group=group, case=case, loops=loops)
        if "error" in answer:
            raise CaseError(f"{self.library}: {answer['error']}")
        return answer["seconds"]

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class CaseError(RuntimeError):
    """A library cannot run a case; the text is its error."""


def calibrate(worker: Worker, group: str, case: str) -> int:
    """How many calls fill a block."""
    loops = 1
    while (seconds := worker.time(group, case, loops)) * loops < BLOCK / 4:
        loops *= 4
    return max(1, round(BLOCK / seconds))


def measure(workers: list[Worker], group: str, case: str, rounds: int) -> list[list[float]]:
    """Seconds for a call: for each worker, one entry a round. Who begins changes from round to round."""
    loops = [calibrate(worker, group, case) for worker in workers]
    times: list[list[float]] = [[] for _ in workers]
    for turn in range(rounds):
        for i in sorted(range(len(workers)), reverse=bool(turn % 2)):
            times[i].append(workers[i].time(group, case, loops[i]))
    return times


def least(worker: Worker, group: str, case: str, limits: Limits | None) -> float:
    """Seconds at the limits of the machine, 0 if they are not known or nothing is computed."""
    if limits is None:
        return 0.0
    answer = worker.ask(group=group, case=case, limits=asdict(limits))
    if "error" in answer:
        raise CaseError(f"{worker.library}, counted: {answer['error']}")
    return answer["seconds"]


def report(
    workers: list[Worker], group: str, names: list[str], rounds: int, limits: Limits | None
) -> list[dict[str, Any]]:
    """Measure a group and print its table as it grows."""
    print(f"\n{group:44} {'time':>11} {'share':>6} {'ratio':>7}  range")
    rows: list[dict[str, Any]] = []
    for name in names:
        row: dict[str, Any] = {"group": group, "case": name}
        try:
            times = measure(workers, group, name, rounds)
            row["limit"] = least(workers[0], group, name, limits)
        except CaseError as error:
            print(f"  {name:42} {error}")
            rows.append(row | {"error": str(error)})
            continue
        finally:
            for worker in workers:
                worker.ask(forget=True)
        row["seconds"] = Measurement(1, times[0], TaskSpec(name, "pass")).median
        share = f"{row['limit'] / row['seconds']:.2f}" if row["limit"] else "-"
        line = f"  {name:42} {spelled_time(row['seconds']):>11} {share:>6}"
        if len(times) == 2:
            ratios = sorted(ours / theirs for ours, theirs in zip(*times, strict=True))
            row["ratio"] = quantile(ratios, 0.5)
            line += f" {row['ratio']:7.2f}  {ratios[0]:.2f} to {ratios[-1]:.2f}"
        print(line, flush=True)
        rows.append(row)
    if found := [row["ratio"] for row in rows if "ratio" in row]:
        print(f"  {'geometric mean':42} {'':18} {mean(found):7.2f}  of {len(found)} cases")
    return rows


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def described(limits: Limits | None) -> str:
    """The limits as a line."""
    if limits is None:
        return "no C compiler: shares of the machine's limits are not measured"
    read, write = limits.read[-1] / 1e9, limits.write[-1] / 1e9
    return (
        f"limits: read {read:.1f} and write {write:.1f} GB/s beyond the caches, "
        f"{limits.multiply / 1e9:.0f} G float32 operations/s"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("groups", nargs="*", metavar="group", help=", ".join(CASES))
    parser.add_argument("--case", default="", help="only cases whose name holds this")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--clock",
        choices=("wall", "processor"),
        default="wall",
        help="processor: time that the process computed, which waiting for others does not lengthen",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--alone", action="store_true", help="no torch")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(CASES):
        parser.error(f"no group {', '.join(unknown)}; there are {', '.join(CASES)}")
    print(
        f"{platform.machine()}, Python {platform.python_version()}, {options.threads} threads",
        end="",
    )
    print(f", {options.rounds} rounds; ratio = taeda / torch" if not options.alone else "")
    limits = measured(options.threads) if options.device == "cpu" else None
    print(
        described(limits)
        if options.device == "cpu"
        else "on cuda: shares of its limits are not known"
    )
    workers = [
        Worker(name, options.threads, options.clock, options.device)
        for name in ("taeda", "torch")[: 1 if options.alone else 2]
    ]
    rows = []
    for group in options.groups or CASES:
        names = [name for name in CASES[group] if options.case in name]
        if names:
            rows += report(workers, group, names, options.rounds, limits)
    for worker in workers:
        worker.close()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return int(any("error" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
