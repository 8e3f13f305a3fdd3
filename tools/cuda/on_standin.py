"""A command on the stand-in driver: `on_standin.py python tools/cuda/contact.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages" / "core" / "tests" / "cuda"))
import standin  # noqa: E402 - the stand-in of the tests, found through the line above

if __name__ == "__main__":
    command = sys.argv[1:]
    os.execvpe(command[0], command, standin.environment(TAEDA_CUDA_FALLBACK=""))
