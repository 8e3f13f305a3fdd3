"""CUDA sources: where the toolkit is, what nvcc is told, and for which devices it compiles."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

__all__ = ["SUFFIXES", "arch_flags", "cuda_home", "has_nvcc", "include_dirs", "link_flags", "nvcc"]

SUFFIXES = (".cu", ".cuh")
_ARCH = re.compile(r"(\d+)\.(\d+)([af]?)(\+PTX)?")
STANDARD_PLACE = Path("/usr/local/cuda")
FAMILIES = {
    "Turing": "7.5+PTX",
    "Ampere": "8.0;8.6+PTX",
    "Ada": "8.9+PTX",
    "Hopper": "9.0+PTX",
    "Blackwell": "10.0;12.0+PTX",
}


def cuda_home() -> Path:
    """The folder of the CUDA toolkit: $CUDA_HOME, $CUDA_PATH, that of `nvcc`, or /usr/local/cuda.
    OSError if there is none.
    """
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if folder := os.environ.get(variable):
            if not (Path(folder) / "bin" / "nvcc").is_file():
                raise OSError(f"{variable} is {folder!r}, and there is no bin/nvcc in it")
            return Path(folder)
    compiler = shutil.which("nvcc")
    candidates = [Path(compiler).resolve().parent.parent] if compiler else []
    for folder_path in (*candidates, STANDARD_PLACE):
        # A `nvcc` that only starts another one lies in a folder without headers.
        if (folder_path / "bin" / "nvcc").is_file() and (
            folder_path / "include" / "cuda.h"
        ).exists():
            return folder_path
    raise OSError(
        "CUDA sources need the CUDA toolkit, and there is none here (looked for `nvcc` on the PATH "
        "and in /usr/local/cuda).\n"
        "Install it, or set CUDA_HOME to the folder that holds bin/nvcc."
    )


def has_nvcc() -> bool:
    """Is there a toolkit? A folder that a variable names and that holds none is an OSError."""
    named = any(os.environ.get(variable) for variable in ("CUDA_HOME", "CUDA_PATH"))
    try:
        return bool(cuda_home())
    except OSError:
        if named:
            raise
        return False


def nvcc() -> tuple[str, ...]:
    """The words of nvcc's command, with the C++ compiler it hands host code to."""
    return (str(cuda_home() / "bin" / "nvcc"),)


def include_dirs() -> list[str]:
    """Where cuda.h lies."""
    return [str(cuda_home() / "include")]


def link_flags() -> tuple[str, ...]:
    """What links the CUDA runtime in, so that the library loads on machines without one."""
    home = cuda_home()
    folder = next((home / name for name in ("lib64", "lib") if (home / name).is_dir()), home)
    wrap = (f"-Wl,--wrap={name}" for name in ("cudaLaunchKernel", "__cudaLaunchKernel"))
    return (*wrap, f"-L{folder}", "-lcudart_static", "-ldl", "-lrt", "-lpthread")


def arch_flags() -> tuple[str, ...]:
    """For which devices to compile: $TAEDA_CUDA_ARCH_LIST ("8.0;9.0+PTX"), else the visible ones,
    else what nvcc serves by default.

    `+PTX` adds code that later devices compile for themselves. ValueError for what is no such list.
    """
    listed = os.environ.get("TAEDA_CUDA_ARCH_LIST", "") or _visible()
    for family, numbers in FAMILIES.items():
        listed = listed.replace(family, numbers)
    return tuple(
        flag for word in re.split(r"[;\s]+", listed.strip()) if word for flag in _arch(word)
    )


def _arch(word: str) -> list[str]:
    match = _ARCH.fullmatch(word)
    if match is None:
        raise ValueError(
            f"TAEDA_CUDA_ARCH_LIST: {word!r} is no compute capability; wanted entries such as 8.0, "
            "9.0a or 8.6+PTX, "
            f"or one of {', '.join(FAMILIES)}"
        )
    number = "".join(match.group(1, 2, 3))
    code = [f"-gencode=arch=compute_{number},code=sm_{number}"]
    return code + [f"-gencode=arch=compute_{number},code=compute_{number}"] * bool(match[4])


@cache
def _visible() -> str:
    """The capabilities of the devices here, the last with PTX; empty without a device."""
    if not (tool := shutil.which("nvidia-smi")):
        return ""
    command = [tool, "--query-gpu=compute_cap", "--format=csv,noheader"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = sorted(
        {line.strip() for line in done.stdout.splitlines() if _ARCH.fullmatch(line.strip())}
    )
    return ";".join(found) + "+PTX" if found and not done.returncode else ""
