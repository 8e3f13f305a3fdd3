"""No kernel's machine code fuses the products of complex numbers, though the compiler likes to.

    python tools/hold/fused.py [LIBRARY]

A loop over complex numbers that gcc vectorises becomes `vfmaddsub` whatever -ffp-contract says: then AVX2 has
other bits than a processor without it, than Arm, and than a GPU. Such products are written with `cmultiply`.
Names the functions of the library that have the instruction; status 1 if there are any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "packages/core/src/taeda/_native/_core.abi3.so"

__all__ = ["fused"]

_FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:")
_FUSED = re.compile(r"\bvf(?:maddsub|msubadd)\d*p[sd]\b")


def fused(lines: Iterable[str]) -> list[str]:
    """Functions of a disassembly that have the instruction.

    >>> fused(["00 <f>:", " 1: vfmaddsub231pd %ymm0", "08 <g>:", " 9: vmulpd %ymm0"])
    ['f']
    """
    found: dict[str, None] = {}
    name = "the file"
    for line in lines:
        if match := _FUNCTION.match(line):
            name = match[1]
        elif _FUSED.search(line):
            found[name] = None
    return [*found]


def main(arguments: list[str]) -> int:
    """Look at a library with objdump."""
    library = arguments[0] if arguments else str(LIBRARY)
    command = ["objdump", "-d", "--no-show-raw-insn", library]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        names = fused(process.stdout)
    if process.returncode:
        print(f"objdump ended with {process.returncode}")
        return 1
    for name in names:
        print(f"{name} fuses products of complex numbers: write them with cmultiply")
    print(f"{len(names)} functions fuse products of complex numbers")
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
