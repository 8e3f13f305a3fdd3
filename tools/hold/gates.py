"""What every user of the core pays: the wheel's size, the time and memory of `import taeda`, the
modules it imports. Printed, and held.

    python tools/hold/gates.py                  prints a line for each figure; the exit status is 1
                                           where one is over its limit
    python tools/hold/gates.py --no-wheel       without the wheel, which the other figures do not need

Times are medians of imports in turns, each in a process of its own, with numpy's as the yardstick:
a busy machine slows both. A wheel is built from what is compiled already.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]

__all__ = ["LIMITS", "over", "shown"]

#: the most of each figure
LIMITS: dict[str, float] = {
    "wheel of core, MB": 5.0,
    "import taeda, of numpy's time": 1.0,
    "import taeda, resident MB over Python": 12.0,
    "import taeda, modules over Python": 80,
}

CODE = """
import resource, sys, time
before = set(sys.modules)
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
rss = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
print(seconds, rss / 1e6, len(set(sys.modules) - before))
"""


def measure(statement: str) -> tuple[float, float, int]:
    """Seconds of a statement in a new interpreter, resident megabytes after it, modules it imported."""
    command = [sys.executable, "-c", CODE.format(statement=statement)]
    seconds, megabytes, modules = subprocess.check_output(command, text=True).split()
    return float(seconds), float(megabytes), int(modules)


def imports(rounds: int, ask: Callable[[str], tuple[float, float, int]]) -> dict[str, float]:
    """The figures of imports, from as many rounds of each in turns."""
    statements = ("pass", "import numpy", "import taeda")
    found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in statements}
    for _ in range(rounds):
        for name in statements:
            found[name].append(ask(name))
    nothing, numpy, taeda = (
        [median(column) for column in zip(*found[name], strict=True)] for name in statements
    )
    return {
        "import taeda, of numpy's time": taeda[0] / numpy[0],
        "import taeda, resident MB over Python": taeda[1] - nothing[1],
        "import taeda, modules over Python": taeda[2] - nothing[2],
        "import taeda, ms": 1e3 * taeda[0],
        "import numpy, ms": 1e3 * numpy[0],
        "import numpy, resident MB over Python": numpy[1] - nothing[1],
        "import numpy, modules over Python": numpy[2] - nothing[2],
    }


def wheel_size() -> float:
    """Megabytes of the wheel that hatchling makes of core."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(command, cwd=ROOT / "packages/core", check=True, stdout=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("*.whl")
        return wheel.stat().st_size / 1e6


def over(figures: Mapping[str, float], limits: Mapping[str, float] = LIMITS) -> list[str]:
    """A sentence for each figure over its limit."""
    return [
        f"{name}: {figures[name]:.2f}; the limit is {limits[name]:g}"
        for name in limits
        if name in figures and figures[name] > limits[name]
    ]


def shown(figures: Mapping[str, float], limits: Mapping[str, float] = LIMITS) -> list[str]:
    """A line for each figure, with its limit where it has one."""
    return [
        f"{name:40} {value:8.2f}" + (f"   at most {limits[name]:g}" if name in limits else "")
        for name, value in figures.items()
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--no-wheel", action="store_true")
    options = parser.parse_args(words)
    figures = imports(options.rounds, measure)
    if not options.no_wheel:
        figures["wheel of core, MB"] = wheel_size()
    print("\n".join(shown(figures)))
    wrong = over(figures)
    print("\n".join(wrong) or "every figure is within its limit")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
