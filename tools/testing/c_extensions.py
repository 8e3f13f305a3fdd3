"""Libraries that tests build against taeda/abi.h."""

from __future__ import annotations

import subprocess
from pathlib import Path

import taeda

__all__ = ["CURRENT", "build"]

CURRENT = Path(taeda.__file__).parent / "include"


def build(source: Path, include: Path, out: Path, *flags: str, compiler: str = "cc") -> str:
    """Compile a source against the headers in `include`; the path of the library, as text."""
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers")
    command = [compiler, "-shared", "-fPIC", "-O1", *warnings, *flags, f"-I{include}", str(source)]
    subprocess.run([*command, "-o", str(out)], check=True)
    return str(out)
