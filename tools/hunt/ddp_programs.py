"""Programs for several processes, written the usual way for torch: with the import renamed they run
alone and under taedarun.

python tools/hunt/ddp_programs.py                  every program, alone and on two ranks
python tools/hunt/ddp_programs.py --names meters   those whose name matches
python tools/hunt/ddp_programs.py --random 1500    1,500 random ones instead, each on 2 and 3 ranks
python tools/hunt/ddp_programs.py --random 1500 --first 9000   those of other seeds
python tools/hunt/ddp_programs.py --seed 17        the random ones of one seed
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
from collections.abc import Iterable
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "testing" / "ddp_programs"
LAUNCH = [sys.executable, "-m", "taeda.distributed.run", "--standalone", "--nproc-per-node", "2"]
ALONE = ("spawned",)  # it starts its processes itself
WORD = "well True"  # what the first rank says at the end


def renamed(text: str) -> str:
    """The program with taeda's name where torch's is."""
    return re.sub(r"\btorch\b", "taeda", text)


def run(path: Path, ranks: int) -> str:
    """What was wrong, empty if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / path.name
        program.write_text(renamed(path.read_text()))
        env = {**os.environ, "OUT": folder, "OMP_NUM_THREADS": "1"}
        start = LAUNCH if ranks > 1 else [sys.executable]
        done = subprocess.run(
            [*start, str(program)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env=env,
        )
    if done.returncode or done.stdout.count(WORD) != 1:
        return f"ended with {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-3000:]}"
    return ""


def run_random(seeds: Iterable[int]) -> int:
    """How many random programs ended with wrong gradients; each is printed."""
    sys.path.insert(0, str(FOLDER.parent))
    from ddp_random import Program, wrong

    failed, outcomes = 0, Counter[str]()
    for seed in seeds:
        for size in (2, 3):
            said = wrong(Program.made(seed, size))
            kind = "wrong" if said and not said.startswith("refused: ") else said[:7] or "means"
            outcomes[kind] += 1
            if kind == "wrong":
                failed += 1
                print(f"seed {seed}, {size} ranks: {said}\n{Program.made(seed, size)}")
    print(", ".join(f"{kind}: {count}" for kind, count in outcomes.items()))
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", default="")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    if options.seed is not None:
        return bool(run_random([options.seed]))
    if options.random:
        return bool(run_random(range(options.first, options.first + options.random)))
    failed = 0
    for path in sorted(FOLDER.glob("*.py")):
        for ranks in (1, 2):
            if not re.search(options.names, path.stem) or (ranks > 1 and path.stem in ALONE):
                continue
            begin = time.monotonic()
            wrong = run(path, ranks)
            failed += bool(wrong)
            print(f"{path.stem} on {ranks}: {wrong or 'well'}, {time.monotonic() - begin:.1f} s")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
