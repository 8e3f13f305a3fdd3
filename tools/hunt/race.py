"""Do the pool, the allocator and products race? A C program without Python, compiled with -fsanitize=thread.

    python tools/hunt/race.py                 # 200 rounds of each caller
    python tools/hunt/race.py --rounds 5000   # more

Compiles csrc/runtime and the drivers and kernels of matrix products, and runs tools/hunt/race/stress.c
on them. Prints what the sanitizer reports; the exit status is 1 if it reports anything, or if a
value is wrong.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CSRC = ROOT / "packages" / "core" / "csrc"
sys.path.insert(0, str(ROOT / "packages" / "core"))
import hatch_build  # noqa: E402 - how the core is compiled, found through the line above

FLAGS = (
    "-fsanitize=thread",
    "-O1",
    "-g",
    "-std=gnu11",
    "-fPIC",
    "-ffp-contract=off",
    "-fno-trapping-math",
    f"-I{CSRC}",
)
DRIVEN = ("runtime", "cpu/run", "cpu/matmul")
# What copies are made of, and what the processor's table of functions names.
KERNELS = (
    "cpu/convert.c",
    "cpu/copy_rows.c",
    "cpu/pointwise/tiles_run.c",
    "cpu/pointwise/wide_run.c",
    *(
        f"cpu/reduction/{name}.c"
        for name in "reduce_run reduce_plan reduce extrema moments".split()
    ),
)


def sources() -> list[tuple[Path, tuple[str, ...], str]]:
    """(file, further flags, a word that tells its objects apart) of all that the program needs."""
    files = [path for room in DRIVEN for path in sorted((CSRC / room).rglob("*.c"))]
    files += [CSRC / name for name in KERNELS]
    made: list[tuple[Path, tuple[str, ...], str]] = [
        (Path(__file__).parent / "race" / "stress.c", (), "")
    ]
    for path in files:
        if path.parent.name in ("run", "runtime") or path.stem.endswith(("_run", "_plan")):
            made.append((path, (), ""))
        else:
            made += [
                (path, (f"-DTD_ISA={isa}", *flags), isa)
                for isa, flags in hatch_build.ISA_FLAGS.items()
            ]
    return made


def build(folder: Path) -> Path:
    """Compile the program into a folder."""
    compiler = shlex.split(os.environ.get("CC", "cc"))

    def compiled(source: tuple[Path, tuple[str, ...], str]) -> str:
        path, flags, word = source
        target = folder / f"{path.parent.name}-{path.stem}-{word}.o"
        subprocess.run([*compiler, *FLAGS, *flags, "-c", str(path), "-o", str(target)], check=True)
        return str(target)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources()))
    program = folder / "stress"
    subprocess.run(
        [*compiler, *FLAGS, *objects, "-o", str(program), "-lm", "-lpthread", "-ldl"], check=True
    )
    return program


def main() -> int:
    """Build and run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=200, help="of each caller")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        environment = {
            **os.environ,
            "TSAN_OPTIONS": "halt_on_error=0 exitcode=66",
            "OMP_NUM_THREADS": "4",
        }
        return subprocess.run([str(program), str(options.rounds)], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
