"""Everything that device="cuda" can show on a stand-in driver, one after the other.

    standin.py                 tests that compile long, every row of the op table, those of CuPy, the demos,
                               ranks
    standin.py --part 0/8      a share of the rows and of the tests that compile long; the demo alone
    standin.py --verbose       and tell all: other words go to cuda_rows.py

Tests that compile nothing long are left to `tests-all` when there is a part.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "hold"))
from tests_all import files_of_tests  # noqa: E402 - found through the line above

TESTS = ["packages/core/tests/cuda", "packages/core/tests/_cuda"]
#: rows that CuPy computes, with the stand-in of it
CUPY = ["tools/cuda/cuda_rows.py", "--cupy", "--families", "fft|linalg|windows|reduction"]
CUPY += ["--dtypes", "float32", "complex64"]


def main(arguments: list[str]) -> int:
    """Run them; 1 when one fails, and the others run nevertheless."""
    tests = ["-m", "slow or not slow", *TESTS]
    if part := _part(arguments):
        slow = sorted(name for name, _ in files_of_tests(TESTS, marked="slow"))
        chosen = slow[part[0] :: part[1]]
        print(f"{len(chosen)} of {len(slow)} files of tests that compile long", flush=True)
        tests = ["-m", "slow", *chosen]
    commands = (
        ["-m", "pytest", *tests],
        ["tools/cuda/cuda_rows.py", *arguments],
        [*CUPY, *(arguments if part else ())],
        ["tools/cuda/cuda_demo.py", "digits" if part else "all"],
        ["tools/cuda/cuda_ranks.py"],
    )
    done = [
        subprocess.run([sys.executable, *words], cwd=ROOT, check=False).returncode
        for words in commands
    ]
    for words, code in zip(commands, done, strict=True):
        if code:
            print(f"failed with {code}: {' '.join(words)}")
    return int(any(done))


def _part(arguments: list[str]) -> tuple[int, int] | None:
    """The numbers behind `--part`."""
    if "--part" not in arguments:
        return None
    place, parts = arguments[arguments.index("--part") + 1].split("/")
    return int(place), int(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
