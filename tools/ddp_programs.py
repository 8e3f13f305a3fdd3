"""Programs for several processes, written the usual way for torch: with the import renamed they run
alone and under taedarun.

python tools/ddp_programs.py                  every program, alone and on two ranks
python tools/ddp_programs.py --names meters   those whose name matches
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "testing" / "ddp_programs"
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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--names", default="")
    options = parser.parse_args()
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
