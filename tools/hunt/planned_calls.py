"""Calls on DTensors again and again in changing order: `python tools/hunt/planned_calls.py --seeds 1-3`.

A second call goes by a plan of the first; each must answer as the call without plans. Prints what
differs; the exit status is 1 if anything does.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from planned_calls import differences

SMALL = {"n": 2, "m": 1, "k": 1}


def main() -> int:
    """Call all rows, on two ranks and on three with parts without elements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-1")
    parser.add_argument("--share", action="store_true", help="what CI runs: two ways of each row")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first, last = map(int, options.seeds.split("-"))
    variants, made, wrong = 2 if options.share else 6, 0, 0
    for seed in range(first, last + 1):
        for ranks, sizes in ((2, {}), (3, SMALL)):
            calls, found = differences(ranks, seed, variants=variants, **sizes)
            made += calls
            wrong += len(found)
            for said in found:
                print(f"{ranks} ranks: {said}")
    print(f"{made} calls, {wrong} differ from the call without a plan")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
