"""Random programs of DTensors against one device: `python tools/hunt/dtensor_programs.py --seeds 0-1999`.

Each seed runs on each mesh of threads. Prints what differs; the exit status is 1 if anything does.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from dtensor_programs import MESHES, faults


def main() -> int:
    """Run the seeds on all meshes, or each seed on one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="0-499")
    parser.add_argument("--length", type=int, default=8)
    parser.add_argument("--share", action="store_true", help="what CI runs: 100 seeds")
    options = parser.parse_args()
    if options.share:
        options.seeds = "0-99"
    first, last = map(int, options.seeds.split("-"))
    warnings.simplefilter("ignore")
    begin, wrong, refusals = time.monotonic(), 0, 0
    for mesh in MESHES:
        for start in range(first, last + 1, 100):
            seeds = range(start, min(start + 100, last + 1))
            found, refused = faults(seeds, mesh, options.length)
            refusals += refused
            wrong += len(found)
            for said in found:
                print(said)
    count = (last - first + 1) * len(MESHES)
    seconds = time.monotonic() - begin
    print(f"{count} programs, {refusals} refused in words, {wrong} wrong, {seconds:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
