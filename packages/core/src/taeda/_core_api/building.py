"""Compilers of this machine, builds that are kept by what went into them, and kernels from libraries."""

from __future__ import annotations

from taeda._build.cc import Build, CompileError, NotReady, Unit, locked, version
from taeda._library._native import define_kernels
from taeda._library._results import finish

__all__ = [
    "Build",
    "CompileError",
    "NotReady",
    "Unit",
    "define_kernels",
    "finish",
    "locked",
    "version",
]
