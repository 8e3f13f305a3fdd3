"""What `import taeda` costs: time and memory over a bare interpreter, beside numpy and (where
installed) torch.

Each import happens in a process of its own, in turns; the median of the rounds is shown.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from statistics import median

CODE = """
import resource, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
print(
    seconds,
    resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    / (1 << 10 if sys.platform != "darwin" else 1 << 20),
)
"""


def measure(statement: str) -> tuple[float, float]:
    """Milliseconds of `statement` and the resident megabytes after it, in a new interpreter."""
    done = subprocess.check_output(
        [sys.executable, "-c", CODE.format(statement=statement)], text=True
    )
    seconds, megabytes = map(float, done.split())
    return 1e3 * seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    statements = {"nothing": "pass", "numpy": "import numpy", "taeda": "import taeda"}
    statements["taeda, then numpy"] = "import taeda, numpy"
    if importlib.util.find_spec("torch"):
        statements["torch"] = "import torch"
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in statements}
    for _ in range(options.rounds):
        for name, statement in statements.items():
            found[name].append(measure(statement))
    print(f"{'import':20} {'time':>10} {'resident':>10}")
    for name, pairs in found.items():
        milliseconds, megabytes = (median(column) for column in zip(*pairs, strict=True))
        print(f"{name:20} {milliseconds:7.1f} ms {megabytes:7.1f} MB")


if __name__ == "__main__":
    main()
