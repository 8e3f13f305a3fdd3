"""Remove every part of taeda with pip, as a user does, from the environment that runs this; nothing may stay.

    clean/bin/python tools/ship/uninstalled.py

An empty folder `taeda` would stay importable, as a namespace without anything in it.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

__all__ = ["main"]


def main() -> int:
    """Uninstall; print what stayed; the exit status."""
    names = {found.metadata["Name"] for found in metadata.distributions()}
    ours = sorted(name for name in names if name == "taeda" or name.startswith("taeda-"))
    command = [sys.executable, "-m", "pip", "uninstall", "--quiet", "--yes", *ours]
    subprocess.run(command, check=True)
    places = {Path(sysconfig.get_path(key)) for key in ("purelib", "platlib", "scripts")}
    stayed = sorted(path for place in places for path in place.glob("taeda*"))
    print(f"{len(ours)} parts uninstalled, {len(stayed)} files and folders stayed")
    for path in stayed:
        print(f"  {path}")
    return 1 if stayed or not ours else 0


if __name__ == "__main__":
    sys.exit(main())
