"""Facts about this installation and this machine, in sections, for people to read and to paste into
a report.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import taeda
from taeda._build import cc
from taeda._native.blas import find_library
from taeda._parts import DISTRIBUTIONS
from taeda._parts.advice import NEEDS, advice, missing, origin

from .mixes import mixed
from .parts import modules

__all__ = ["Section", "as_text", "sections"]

Section = tuple[str, list[tuple[str, str]]]

#: what taeda uses if it is there, and what for
OPTIONAL = {
    "fsspec": "load and save by URL",
    "mpi4py": "several processes",
    "setuptools": "wheels of extensions",
    "cupy-cuda12x": "extensions for CUDA 12",
    "cupy-cuda13x": "extensions for CUDA 13",
}
REQUIRED = ("numpy", "cffi", "ml-dtypes", "scipy-openblas32")
PREFIXES = ("TAEDA_", "OMP_", "OPENBLAS_", "MKL_")
NAMES = ("CC", "CXX", "CUDA_HOME", "XDG_CACHE_HOME", "PYTHONPATH")


def sections() -> list[Section]:
    """All facts. Nothing is installed, compiled or fetched to find them."""
    wrong = mixed()
    return [
        ("taeda", _taeda()),
        ("parts", [(name, _part(name)) for name in ("taeda-core", *NEEDS)]),
        *([("versions that do not go together", [("", told) for told in wrong])] if wrong else []),
        ("machine", _machine()),
        ("building", _building()),
        ("other packages", _others()),
        ("environment", _environment()),
    ]


def as_text(given: list[Section]) -> str:
    """Sections as lines of text, the values below each other."""
    lines: list[str] = []
    for title, rows in given:
        width = max((len(label) for label, _ in rows), default=0)
        lines += ["", title, *(f"  {label:<{width}}  {value}" for label, value in rows)]
    return "\n".join(lines[1:]) + "\n"


def _taeda() -> list[tuple[str, str]]:
    kind, place = origin()
    return [
        ("version", f"{taeda.__version__} (alpha: names may still change)"),
        ("from", f"{kind} {place}".strip()),
        ("lies in", str(Path(taeda.__file__).parent)),
        ("Python", f"{platform.python_version()} ({sys.executable})"),
    ]


def _part(name: str) -> str:
    modules = ", ".join(f"taeda.{sub}" for sub, owner in DISTRIBUTIONS.items() if owner == name)
    if missing(name):
        on_path = name == "taeda-core"  # it runs, so it is there, without what pip writes down
        return (
            "on the import path, not installed"
            if on_path
            else f"not installed ({modules}): {advice(name)}"
        )
    return f"{metadata.version(name)}  {modules or 'taeda'}"


def _machine() -> list[tuple[str, str]]:
    forced = " (TAEDA_ISA)" if os.environ.get("TAEDA_ISA") else ""
    return [
        ("system", f"{platform.platform()}"),
        ("processor", f"{_processor()}, {_cores()} cores for this process, {_memory()} of memory"),
        ("instruction set", f"{taeda.backends.cpu.get_cpu_capability()}{forced}"),
        ("devices", ", ".join(_devices())),
        ("BLAS and LAPACK", find_library() or "none found: own kernels, and no LAPACK"),
        ("threads", f"{taeda.get_num_threads()} within an operation"),
    ]


def _processor() -> str:
    try:
        words = Path("/proc/cpuinfo").read_text().split("model name", 1)[1]
        return words.partition(":")[2].partition("\n")[0].strip()
    except (OSError, IndexError):  # another system, or one that does not name it
        return platform.processor() or platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return "an unknown amount"
    return f"{size / 2**30:.1f} GiB"


def _devices() -> list[str]:
    try:
        taeda.cuda.init()
    except MemoryError:
        raise
    except RuntimeError as error:  # no driver or no device: its words say which
        return [f"cpu ({error})"]
    count = taeda.cuda.device_count()
    return ["cpu", *(f"cuda:{k} {taeda.cuda.get_device_name(k)}" for k in range(count))]


def _building() -> list[tuple[str, str]]:
    return [
        ("C compiler", _compiler()),
        ("Python.h", _header()),
        ("header for extensions", str(Path(taeda.__file__).parent / "include" / "taeda" / "abi.h")),
        *((name, fact()) for part in modules() for name, fact in part.FACTS.items()),
    ]


def _compiler() -> str:
    try:
        command = cc.compiler()
        asked = [*command, "--version"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=10)
    except cc.NotReady:
        return "none: extensions of your own cannot be built here; everything else works"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{shlex.join(command)} does not answer: {error}"
    return f"{shlex.join(command)}: {done.stdout.partition(chr(10))[0]}"


def _header() -> str:
    try:
        return str(cc.python_include())
    except cc.NotReady:
        return "not installed: needed to build taeda from source, not to use it"


def _others() -> list[tuple[str, str]]:
    rows = [
        (name, "MISSING, and needed" if missing(name) else metadata.version(name))
        for name in REQUIRED
    ]
    return rows + [
        (name, f"{'not installed' if missing(name) else metadata.version(name)} ({use})")
        for name, use in OPTIONAL.items()
    ]


def _environment() -> list[tuple[str, str]]:
    """Variables that taeda or its libraries read; the value of one that holds a secret is not shown."""
    found = sorted(name for name in os.environ if name.startswith(PREFIXES) or name in NAMES)
    shown = [(name, "(set)" if "SECRET" in name else os.environ[name]) for name in found]
    return shown or [("", "no variable that taeda reads is set")]
