"""How this library was built and what it found on the machine, for people to read."""

from __future__ import annotations

import platform

import taeda

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Version, kernels, BLAS and Python, a line each."""
    from taeda._native.blas import find_library

    lines = [
        f"taeda {taeda.__version__}",
        f"  - CPU kernels: {taeda.backends.cpu.get_cpu_capability()}",
        f"  - BLAS: {find_library() or 'own kernels'}",
        f"  - Python {platform.python_version()}, one library for every Python from 3.11 on",
    ]
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """Threads within an operation and between operations."""
    return (
        f"taeda/Parallel:\n\ttaeda.get_num_threads() : {taeda.get_num_threads()}\n"
        f"\ttaeda.get_num_interop_threads() : {taeda.get_num_interop_threads()}\nown thread pool\n"
    )
