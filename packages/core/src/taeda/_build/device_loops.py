"""The lines of the kernel tables that have device text, as a file: `taeda/_device_text/loops.json`."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType

__all__ = ["write"]


def write(csrc: Path, package: Path, text: ModuleType) -> Path:
    """Preprocess each table and write "op dtype" -> [family, loop], if anything changed; return the file."""
    target = package / "_device_text" / "loops.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    tables = {family: text.FAMILIES[family].text for family in text.TABLES}
    sources = [csrc / path for path in tables.values()]
    headers = [
        *(csrc / "cpu" / "simd").glob("*.h"),
        csrc / "cpu" / "convert.h",
        csrc / "runtime" / "loops.h",
    ]
    newest = max(path.stat().st_mtime for path in [*sources, *headers])
    if target.exists() and target.stat().st_mtime > newest:
        return target
    found: dict[str, list[str]] = {}
    for family, path in tables.items():
        for op, dtype, loop in lines(csrc, family, path):
            # the host chooses among its loops
            if not (op == "clamp" and loop.startswith("clamp_")):
                found[f"{op} {dtype}"] = [family, loop]
    beside = target.with_suffix(".tmp")
    text_of = json.dumps(found, indent=0, sort_keys=True) + "\n"
    beside.write_text(text_of)  # half-written: renamed when whole
    os.replace(beside, target)
    return target


def lines(csrc: Path, family: str, path: str) -> list[tuple[str, str, str]]:
    """(op, dtype, loop) of every line of the table of one family."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = (*compiler, "-E", "-P", "-DTD_ISA=x", f"-I{csrc}", str(csrc / path))
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    table = out[out.index(f"td_table_{family}_x[] =") :]
    return re.findall(r'\{\s*"(\w+)",\s*TD_(\w+),\s*(\w+)\s*\}', table)
