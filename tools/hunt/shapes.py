"""Middle-sized, odd shapes of everything that packs, tiles, fuses or needs work space, forward and
backward, against numpy in float64.

    python tools/hunt/shapes.py --minutes 30         as long as that, in children, on every instruction
                                                set of this machine
    python tools/hunt/shapes.py --again 0/4711/avx2  make case 4711 of seed 0 once more, in this process

What a wrong size of work space damages shows at once on a library with the address sanitizer or
built with TAEDA_DEBUG; the session `shapes` builds one. Each case is drawn from its number alone:
an operation, a dtype, sizes from 1 to 1,100, 1 to 4 threads. A gradient is compared along one
random direction with the difference quotient of the plain computation.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from fuzz_children import Range, run_as_child, supervise

BATCH = 60  # cases a child
LIMIT = 900.0  # seconds a child
ISAS = ("generic", "avx2", "avx512")


def cases(given: Range, note: Any) -> Iterator[tuple[str, Any]]:
    """Run the cases of a range in this child; `pattern` is the instruction set and which
    operations, as "avx2 conv|mm".
    """
    isa, _, pattern = given.pattern.partition(" ")
    os.environ["TAEDA_ISA"] = isa
    import warnings

    warnings.simplefilter("ignore")
    for number in range(given.first, given.first + given.count):
        case = drawn(given.seed, number, pattern)
        note(number, f"{isa} {case}")
        said = check(case)
        yield case.name, f"{given.seed}/{number}/{isa} {case}: {said}" if said else None


def drawn(seed: int, number: int, pattern: str) -> Any:
    from shape_cases import CASES, Case

    random = Random(f"{seed}/{number}")
    names = [name for name in CASES if re.search(pattern, name)]
    name = names[number % len(names)]
    return Case(name, random)


def check(case: Any) -> str:
    """What is wrong with the results or the gradients of one case; nothing if they are right."""
    import taeda

    taeda.set_num_threads(case.threads)
    return case.values() or case.gradients()


def isas() -> list[str]:
    """The instruction sets that this machine has."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return ["generic"]
    facts = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else "avx2"
    has = {"generic": "", "avx2": "avx2", "avx512": "avx512vl"}
    return [isa for isa in ISAS if has[isa] in facts]


def run(options: argparse.Namespace) -> int:
    """Children one after another until the time is over. Print every finding, then the counts."""
    counts: Counter[str] = Counter()
    findings, first, end = 0, options.first, time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and findings < options.enough:
            for isa in isas():
                given = Range(options.seed, first, BATCH, f"{isa} {options.ops}")
                made = supervise(__file__, given, Path(folder), LIMIT)
                deaths = [
                    f"{options.seed}/{d.number}/{d.text}\n    {d.ending}" for d in made.deaths
                ]
                for line in deaths + made.found:
                    print(line, flush=True)
                findings += len(deaths) + len(made.found)
                counts += made.counts
                if time.monotonic() > end:
                    break
            first += BATCH
    print(", ".join(f"{number} {kind}" for kind, number in counts.most_common()))
    print(f"{sum(counts.values())} cases on {' '.join(isas())}, {findings} findings")
    return int(findings > 0 or not counts)


def again(which: str, pattern: str) -> int:
    """Run one case in this process, for a debugger."""
    seed, number, isa = which.split("/")
    os.environ["TAEDA_ISA"] = isa
    case = drawn(int(seed), int(number), pattern)
    print(case, flush=True)
    said = check(case)
    print("->", said or "right")
    return int(bool(said))


def main() -> int:
    if run_as_child(cases):
        return 0
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument(
        "--ops", default="", help="only operations whose name matches this expression"
    )
    parser.add_argument("--enough", type=int, default=20, help="stop after this many findings")
    parser.add_argument("--again", metavar="SEED/NUMBER/ISA", help="run one case in this process")
    options = parser.parse_args()
    if options.again:
        return again(options.again, options.ops)
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
