"""Names for parts of a program, which NVIDIA's profilers show: `range_push`, `range_pop`, `mark`.

They are calls of NVTX (libnvToolsExt.so.1, of the wheel nvidia-nvtx-cu12 or the toolkit;
`TAEDA_LIBNVTX` names another library). Without it they raise RuntimeError, which says so.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]

_NAME = "libnvToolsExt.so.1"


@cache
def _library() -> ctypes.CDLL:
    named = os.environ.get("TAEDA_LIBNVTX")
    folders = (Path(entry) / "nvidia" / "nvtx" / "lib" / _NAME for entry in sys.path if entry)
    for path in [named] if named else [*map(str, folders), _NAME]:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        library.nvtxRangeStartA.restype = ctypes.c_uint64
        library.nvtxRangeEnd.argtypes = [ctypes.c_uint64]
        return library
    raise RuntimeError(
        f"NVTX functions not installed: {named or _NAME} was not found; "
        "install it with `pip install nvidia-nvtx-cu12`"
    )


def range_push(msg: str) -> int:
    """Begin a range within the last one of this thread; its depth, from 0 on.

    Args:
        msg: what is shown.

    >>> try:
    ...     depth = taeda.cuda.nvtx.range_push("forward")
    ...     depth = taeda.cuda.nvtx.range_pop()
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    return int(_library().nvtxRangePushA(str(msg).encode()))


def range_pop() -> int:
    """End the last range of this thread; its depth.

    >>> try:
    ...     depth = taeda.cuda.nvtx.range_push("forward")
    ...     depth = taeda.cuda.nvtx.range_pop()
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    return int(_library().nvtxRangePop())


def range_start(msg: str) -> int:
    """Begin a range that any thread may end with `range_end`; its number.

    Args:
        msg: what is shown.

    >>> try:
    ...     number = taeda.cuda.nvtx.range_start("loading")
    ...     taeda.cuda.nvtx.range_end(number)
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    return int(_library().nvtxRangeStartA(str(msg).encode()))


def range_end(range_id: int) -> None:
    """End the range that `range_start` began.

    Args:
        range_id: the number that `range_start` gave.

    >>> try:
    ...     number = taeda.cuda.nvtx.range_start("loading")
    ...     taeda.cuda.nvtx.range_end(number)
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    _library().nvtxRangeEnd(range_id)


def mark(msg: str) -> None:
    """Something happened now.

    Args:
        msg: what is shown.

    >>> try:
    ...     taeda.cuda.nvtx.mark("the first batch")
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    _library().nvtxMarkA(str(msg).encode())


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """`with nvtx.range("step {}", 3):` a range, named by `msg.format(3)`. It decorates functions, too.

    Args:
        msg: what is shown, a form of `str.format`.
        args, kwargs: what `format` puts into it.

    >>> try:
    ...     with taeda.cuda.nvtx.range("step {}", 3):
    ...         loss = taeda.ones(2).sum()
    ... except RuntimeError:
    ...     pass  # NVTX is not installed
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
