"""The digits demo trains with --device cuda on the stand-in driver and prints the processor's losses.

    cuda_demo.py --epochs 1

Nothing falls back on the processor, and device memory is closed to the host all the while.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "packages" / "core" / "tests" / "cuda"))
import standin  # noqa: E402 - the stand-in of the tests, found through the line above

#: what may differ between two runs: times and folders
PASSING = re.compile(r"trained in .*|\S*/")


def told(device: str, epochs: int, env: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as out:
        words = ("--device", device, "--epochs", str(epochs), "--out", out)
        command = (
            sys.executable,
            "-W",
            "ignore",
            str(ROOT / "examples" / "digits" / "train.py"),
            *words,
        )
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(f"the demo ended with {done.returncode} on {device}\n{done.stdout}")
    return [PASSING.sub("", line) for line in done.stdout.splitlines()]


def alike(a: str, b: str) -> bool:
    """The same words, and numbers to a hundredth: products add in another order, and training
    enlarges what rounding differs.
    """
    number = re.compile(r"\d+\.\d+")
    pairs = zip(map(float, number.findall(a)), map(float, number.findall(b)), strict=False)
    return number.sub("", a) == number.sub("", b) and all(abs(x - y) < 0.01 for x, y in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    host = told("cpu", options.epochs, dict(os.environ))
    device = told("cuda", options.epochs, standin.environment(TAEDA_CUDA_FALLBACK=""))
    print("\n".join(device))
    wrong = [f"cpu:  {a}\ncuda: {b}" for a, b in zip(host, device, strict=True) if not alike(a, b)]
    sys.exit("\n".join(["the lines differ:", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
