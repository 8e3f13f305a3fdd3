"""Programs under the mpiexec that came with the engine, as they are without taedarun."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_LEFT_OUT = (
    *("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "TAEDA_STORE_SECRET"),
    "PYTHONUNBUFFERED",  # the ranks share one pipe: unbuffered, the words of their lines would mix
)


def find_mpiexec() -> str:
    """The path of mpiexec beside this Python, else in the PATH; the test is skipped without one."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("mpi4py is installed without a launcher of its own: pip install mpich")
    return found


def start(
    launcher: list[str], code: str, folder: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """How `code` ended, which has `taeda`, `dist` and `os` imported, under `launcher` and its options."""
    path = folder / "program.py"
    path.write_text(f"import taeda, os\nimport taeda.distributed as dist\n{code}")
    base = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return subprocess.run(
        [*launcher, sys.executable, str(path)],
        env={**base, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
