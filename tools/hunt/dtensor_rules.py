"""Rules of DTensors proved by calls: `python tools/hunt/dtensor_rules.py --seeds 1-3`.

Every kernel row is called on 2, 3 and 5 ranks, with tensors cut in every way that its rule claims and
in random ones, and the results are compared with the plain call. Prints what differs; the exit
status is 1 if anything is printed before the last line.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from dtensor_calls import Counts, faults, rows_of


def main() -> int:
    """Call all rows of the pattern."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1-1")
    parser.add_argument("--rows", default="", help="regular expression")
    parser.add_argument("--ranks", default="2,3,5")
    parser.add_argument("--ways", type=int, default=4)
    parser.add_argument(
        "--share", action="store_true", help="what CI runs: 3 ranks, one random way"
    )
    options = parser.parse_args()
    if options.share:
        options.ranks, options.ways = "3", 1
    first, last = map(int, options.seeds.split("-"))
    rows = [row for row in rows_of() if re.search(options.rows, row.schema.qualified)]
    counts, wrong = Counts(), 0
    for seed in range(first, last + 1):
        for ranks in map(int, options.ranks.split(",")):
            for said in faults(rows, ranks, seed, options.ways, counts, ("float32", "int64")):
                wrong += 1
                print(f"{ranks} ranks: {said}")
    print(
        f"{len(counts.rows)} rows, {counts.claimed} claimed and {counts.random} random ways, {wrong} wrong"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
