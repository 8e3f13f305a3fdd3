"""Older names of questions about autocast: one for each kind of device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._native import core as _core
from .autocast import (
    get_autocast_dtype,
    is_autocast_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)

if TYPE_CHECKING:
    from taeda import dtype
else:
    dtype = _core.dtype

__all__ = [
    "get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "is_autocast_cpu_enabled",
    "set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`.

    >>> with taeda.autocast("cpu"):
    ...     taeda.is_autocast_cpu_enabled()
    True
    """
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`.

    Args:
        enabled: whether this thread casts on the cpu from now on.

    >>> taeda.set_autocast_cpu_enabled(True)
    >>> taeda.is_autocast_enabled("cpu")
    True
    >>> taeda.set_autocast_cpu_enabled(False)
    """
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """`get_autocast_dtype("cpu")`.

    >>> taeda.get_autocast_cpu_dtype()
    taeda.bfloat16
    """
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """`set_autocast_dtype("cpu", dtype)`.

    Args:
        dtype: what listed operations compute in on the cpu, bfloat16 (at the start) or float16.

    >>> taeda.set_autocast_cpu_dtype(taeda.float16)
    >>> taeda.get_autocast_dtype("cpu")
    taeda.float16
    >>> taeda.set_autocast_cpu_dtype(taeda.bfloat16)
    """
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtype:
    """`get_autocast_dtype("cuda")`.

    >>> taeda.get_autocast_gpu_dtype()
    taeda.float16
    """
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """`set_autocast_dtype("cuda", dtype)`.

    Args:
        dtype: what listed operations compute in on cuda, float16 (at the start) or bfloat16.

    >>> taeda.set_autocast_gpu_dtype(taeda.bfloat16)
    >>> taeda.get_autocast_dtype("cuda")
    taeda.bfloat16
    >>> taeda.set_autocast_gpu_dtype(taeda.float16)
    """
    set_autocast_dtype("cuda", dtype)
