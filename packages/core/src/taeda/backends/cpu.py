"""The processor."""

from __future__ import annotations

from .._native import core as _core

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The instruction set that the kernels use here: "AVX512", "AVX2" or "DEFAULT".

    >>> taeda.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    return _core.cpu_capability
