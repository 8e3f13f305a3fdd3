"""Examples train with --device cuda on the stand-in driver and print the processor's losses.

    cuda_demo.py                     the digits demo
    cuda_demo.py char_gpt resnet18   others, a few steps of each
    cuda_demo.py all
    cuda_demo.py --card all          on the device of this machine

Nothing falls back on the processor; on the stand-in, device memory is closed to the host all the while.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "core" / "tests" / "cuda"))
import standin  # noqa: E402 - the stand-in of the tests, found through the line above

#: what an example is told so that it takes seconds; a folder's name stands for a passing one
EXAMPLES = {
    "digits": ("--epochs", "1", "--out", "{out}"),
    "char_gpt": ("--steps", "5", "--letters", "4"),
    "resnet18": ("--pictures", "96", "--width", "4"),
}
#: the same on the stand-in driver, which takes 15 s for a step of it: the second loss shows the first update
ON_STANDIN = EXAMPLES | {"char_gpt": ("--steps", "2", "--letters", "2")}
#: what may differ between two runs: times and folders
PASSING = re.compile(r"trained in .*|\S*/|\S+ s a step")


def told(example: str, device: str, card: bool, env: dict[str, str]) -> list[str]:
    with tempfile.TemporaryDirectory() as out:
        given = (EXAMPLES if card else ON_STANDIN)[example]
        words = [word.format(out=out) for word in given]
        program = str(ROOT / "examples" / example / "train.py")
        command = (sys.executable, "-W", "ignore", program, "--device", device, *words)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=False)
    if done.returncode:
        sys.exit(f"{example} ended with {done.returncode} on {device}\n{done.stdout}")
    return [PASSING.sub("", line) for line in done.stdout.splitlines()]


def alike(a: str, b: str) -> bool:
    """The same words, and numbers to a hundredth: products add in another order, and training
    enlarges what rounding differs.
    """
    number = re.compile(r"\d+\.\d+")
    pairs = zip(map(float, number.findall(a)), map(float, number.findall(b)), strict=False)
    return number.sub("", a) == number.sub("", b) and all(abs(x - y) < 0.01 for x, y in pairs)


def differences(example: str, card: bool) -> list[str]:
    host = told(example, "cpu", card, dict(os.environ))
    device = told(example, "cuda", card, standin.environment(card, TAEDA_CUDA_FALLBACK=""))
    print("\n".join([f"{example}:", *device]), flush=True)
    pairs = itertools.zip_longest(host, device, fillvalue="(no line)")
    return [f"{example}\ncpu:  {a}\ncuda: {b}" for a, b in pairs if not alike(a, b)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("examples", nargs="*", help=f"all, or of {', '.join(EXAMPLES)}")
    parser.add_argument("--card", action="store_true")
    options = parser.parse_args()
    chosen = options.examples or ["digits"]
    chosen = [*EXAMPLES] if chosen == ["all"] else chosen
    if unknown := [name for name in chosen if name not in EXAMPLES]:
        parser.error(f"no such example: {', '.join(unknown)}")
    wrong = [line for example in chosen for line in differences(example, options.card)]
    sys.exit("\n".join(["the lines differ:", *wrong]) if wrong else 0)


if __name__ == "__main__":
    main()
