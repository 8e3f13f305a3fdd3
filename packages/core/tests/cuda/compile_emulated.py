"""What the stand-in NVRTC calls: the text in a folder becomes a library of emulated kernels; its
path goes into the file `image`.

A text that defines loops is compiled once, with the two kernels of every loop; another with the
kernels that are named. Libraries are kept beside the folder by the digest of the text, so that a
text is compiled once for all processes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c++17", "-g0", "-fPIC", "-mfma", "-ffp-contract=off", "-fno-math-errno")
# a table's loops are many and run for a moment; products and their like are few and run for long
LEVELS = {"table": "-O0", "kernels": "-O1"}
QUIET = (
    "-fno-trapping-math",
    "-Wno-unknown-pragmas",
    "-fvisibility=hidden",
    "-include",
    "emulate.h",
)


def main(folder: Path) -> None:
    text = (folder / "program.cpp").read_text()
    names = (folder / "names").read_text().splitlines()
    found = loops(folder)
    kernels = [f"td_{how}<{loop}>" for loop in found for how in ("flat", "strided")]
    kernels += [name for name in names if name not in kernels]
    level = LEVELS["table" if found else "kernels"]
    library = folder.parent / f"{digest(folder, (level, *kernels))}.so"
    with locked(library):  # two processes may ask for one text at once
        if not library.exists():
            build(folder, text, kernels, library, level)
    (folder / "image").write_text(str(library))
    for entry in folder.iterdir():  # the text is in the library's digest; only the answer stays
        if entry.is_dir():
            shutil.rmtree(entry)


@contextlib.contextmanager
def locked(library: Path) -> Iterator[None]:
    """Hold the library against other processes that would compile it."""
    with library.with_suffix(".lock").open("a") as handle:  # half-written: nothing is written
        fcntl.flock(handle, fcntl.LOCK_EX)  # freed by the system when the process ends
        yield


def digest(folder: Path, words: Sequence[str]) -> str:
    made = hashlib.sha256("\n".join((*FLAGS, *words)).encode())
    for path in sorted([*folder.rglob("*.h"), folder / "program.cpp", HERE / "emulate.h"]):
        made.update(path.read_bytes())
    return made.hexdigest()[:24]


def loops(folder: Path) -> list[str]:
    """Every loop that the text itself defines."""
    header = folder / "cpu/simd/elementwise.h"
    if not header.exists() or "#include" not in (folder / "program.cpp").read_text():
        return []
    marked = folder / "marked"
    target = marked / "cpu/simd/elementwise.h"
    target.parent.mkdir(parents=True)
    loop = "#define TD_LOOP(symbol, row, ...)"
    target.write_text(re.sub(rf"{re.escape(loop)}.*", f"{loop} @ symbol @", header.read_text()))
    command = [
        "g++",
        "-std=c++17",
        "-E",
        "-P",
        "-include",
        "emulate.h",
        f"-I{marked}",
        f"-I{folder}",
        f"-I{HERE}",
    ]
    out = subprocess.run(
        [*command, str(folder / "program.cpp")], capture_output=True, text=True, check=True
    ).stdout
    shutil.rmtree(marked)
    return re.findall(r"@ (\w+) @", out)


def build(folder: Path, text: str, kernels: list[str], library: Path, level: str) -> None:
    lines = "\n".join(f"TD_KERNEL({name})" for name in kernels)
    table = 'extern "C" __attribute__((visibility("default"))) const td_emulated td_emulated_kernels[] = {\n'
    (folder / "program.cpp").write_text(f"{text}\n{table}{lines}\n{{nullptr, nullptr, 0}}}};\n")
    beside = folder / "library.so"
    cache = ["ccache"] if os.environ.get("CC", "").startswith("ccache") else []
    include = (f"-I{folder}", f"-I{HERE}")
    made = folder / "program.o"
    subprocess.run(
        [
            *cache,
            "g++",
            *FLAGS,
            level,
            *QUIET,
            *include,
            "-c",
            str(folder / "program.cpp"),
            "-o",
            str(made),
        ],
        check=True,
    )
    subprocess.run(["g++", "-shared", str(made), "-o", str(beside)], check=True)
    os.replace(beside, library)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
