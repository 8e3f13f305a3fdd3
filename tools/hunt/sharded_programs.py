"""Training programs as libraries write them, on several processes: `python tools/hunt/sharded_programs.py`.

The programs of tools/testing/sharded_programs print their losses; each must print the same on every
number of processes, and when it goes on from a checkpoint on another mesh. With `--torch FOLDER` (an
installed torch) they run there too, their imports renamed, and must print the same. Prints what
differs; the exit status is 1 if anything does.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "testing" / "sharded_programs"
#: program, words, ranks; the first of each is what others are compared with
RUNS = {
    "titan": [("", 1), ("--tp 2", 2), ("", 2), ("--tp 2", 4), ("--compile", 2)],
    "accelerated": [("", 1), ("", 2), ("--offload", 2)],
}
NEAR = 2e-3


def run(program: Path, words: str, ranks: int, torch: str = "") -> list[tuple[str, float]]:
    """The numbers that a program prints, each with the word before it."""
    launcher = "torch.distributed.run" if torch else "taeda.distributed.run"
    env = {**os.environ, "OMP_NUM_THREADS": "1", **({"PYTHONPATH": torch} if torch else {})}
    command = [sys.executable, "-m", launcher, "--nproc-per-node", str(ranks), str(program)]
    ended = subprocess.run(
        [*command, *words.split()], env=env, capture_output=True, text=True, timeout=300
    )
    if ended.returncode:
        raise RuntimeError(
            f"{program.stem} {words} on {ranks}: {ended.stdout}{ended.stderr[-3000:]}"
        )
    lines = [line for line in ended.stdout.splitlines() if re.match("step|epoch|state", line)]
    return [(word, float(n)) for word, n in re.findall(r"([a-z]+) ([\d.]+)\b", "\n".join(lines))]


def differs(got: list[tuple[str, float]], want: list[tuple[str, float]]) -> bool:
    """Other words, or numbers that are not near."""
    if [word for word, _ in got] != [word for word, _ in want] or not want:
        return True
    pairs = zip(got, want, strict=True)
    return any(abs(a - b) > NEAR * max(1.0, abs(b)) for (_, a), (_, b) in pairs)


def renamed(program: Path, folder: str) -> Path:
    """The same program for torch."""
    text = program.read_text().replace("import taeda as torch", "import torch")
    made = Path(folder) / program.name
    made.write_text(re.sub(r"^(from|import) taeda\b", r"\1 torch", text, flags=re.MULTILINE))
    return made


def main() -> int:
    """Run all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", default="", help="the folder of an installed torch")
    options = parser.parse_args()
    wrong = 0

    def tell(what: str, got: list[tuple[str, float]], want: list[tuple[str, float]]) -> None:
        nonlocal wrong
        bad = differs(got, want)
        wrong += bad
        print(f"{what}: {f'{got} for {want}' if bad else f'{len(got)} numbers agree'}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, runs in RUNS.items():
            program = PROGRAMS / f"{name}.py"
            want = run(program, *runs[0])
            for words, ranks in runs[1:]:
                tell(f"{name} {words} on {ranks}", run(program, words, ranks), want)
            if name == "titan":
                place = f"--folder {folder}/checkpoint"
                first = run(program, f"--steps 3 --tp 2 {place}", 4)
                then = run(program, f"{place}", 2)
                tell("titan on 4, going on from its checkpoint on 2", first + then, want)
            if options.torch:
                tell(
                    f"{name} with torch on 2",
                    run(renamed(program, folder), "", 2, options.torch),
                    want,
                )
    print(f"{wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
