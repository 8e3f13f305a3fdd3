"""Instructions of a call on plain tensors, by callgrind: what a gate of a kind of tensor costs those without.

    python benchmarks/instructions.py [--beside FOLDER | --profiled]

FOLDER is the `packages/core/src` of another build, such as one of the commit before a gate; without it only
this build is counted. `--profiled` counts the calls of a process that had a profile beside those of one that
had none: nothing of it may stay. Counts do not depend on what else the machine does: they repeat to a few
instructions. About a minute a build. Needs valgrind.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve()
SOURCE = HERE.parents[1] / "packages" / "core" / "src"
CALLS = {
    "x.abs()": "lambda: x.abs()",
    "x + y": "lambda: x + y",
    "taeda.add(x, y)": "lambda: taeda.add(x, y)",
    "x.sum(0)": "lambda: x.sum(0)",
    "x @ y": "lambda: x @ y",
    "x[0]": "lambda: x[0]",
}
PROGRAM = """
import taeda
from taeda._native import core
{before}
x, y = taeda.ones(4, 4), taeda.ones(4, 4)
call = {call}
def run():
    for _ in range({times}):
        call()
for _ in range(50):
    call()
core.measured_region(run)
"""


PROFILED = """
from taeda import profiler
with profiler.profile() as prof:
    taeda.ones(3).exp()
"""


def counted(call: str, times: int, source: Path, before: str) -> int:
    """Instructions of a loop of so many calls."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "counts")
        command = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no",
            "--toggle-collect=taeda_measured_region", sys.executable, "-c",
            PROGRAM.format(call=call, times=times, before=before),
        ]  # fmt: skip
        paths = os.pathsep.join([str(source), os.environ.get("PYTHONPATH", "")])
        environment = {
            **os.environ,
            "PYTHONPATH": paths,
            "TAEDA_ISA": "avx2",
            "PYTHONHASHSEED": "0",
        }
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if found is None:
            raise RuntimeError(f"callgrind said nothing of instructions:\n{done.stderr[-2000:]}")
        return int(found[1])


def of_a_call(call: str, source: Path, before: str = "") -> float:
    """Instructions of one call: what two hundred take beyond one hundred."""
    return (counted(call, 200, source, before) - counted(call, 100, source, before)) / 100


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--profiled", action="store_true")
    options = parser.parse_args()
    beside = options.beside
    column = "beside" if beside else "profiled" if options.profiled else ""
    print(f"{'instructions':20} {'here':>9}" + (f" {column:>9} {'more':>7}" if column else ""))
    for name, call in CALLS.items():
        own = of_a_call(call, SOURCE)
        line = f"{name:20} {own:9.0f}"
        if beside:
            other = of_a_call(call, beside.resolve())
            line += f" {other:9.0f} {own / other - 1:7.2%}"
        elif options.profiled:
            after = of_a_call(call, SOURCE, PROFILED)
            line += f" {after:9.0f} {after / own - 1:7.2%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
