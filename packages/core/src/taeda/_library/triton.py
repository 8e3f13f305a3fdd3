"""Kernels of Triton: refused, with what serves instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

__all__ = ["capture_triton", "triton_op", "wrap_triton"]

Function = Callable[..., Any]


def triton_op(
    name: str,
    fn: Function | None = None,
    /,
    *,
    mutates_args: str | Sequence[str],
    schema: str | None = None,
) -> NoReturn:
    """Refused: Triton's kernels are not launched from here.
    NotImplementedError names what serves instead.

    Args:
        name: the operator's name, for the error's text
        fn: not read (default: None)
        mutates_args: not read
        schema: not read (default: None)

    >>> triton_op("mylib::add", mutates_args=())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: triton_op('mylib::add'): taeda launches no kernels...
    """
    raise _no_triton(f"triton_op({name!r})")


def wrap_triton(triton_kernel: Function, /) -> NoReturn:
    """Refused, as `triton_op` is.

    Args:
        triton_kernel: not read

    >>> wrap_triton(print)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: wrap_triton: taeda launches no kernels...
    """
    raise _no_triton("wrap_triton")


def capture_triton(triton_kernel: Function, /) -> NoReturn:
    """Refused, as `triton_op` is; the earlier name of `wrap_triton`.

    Args:
        triton_kernel: not read

    >>> capture_triton(print)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    NotImplementedError: capture_triton: taeda launches no kernels...
    """
    raise _no_triton("capture_triton")


def _no_triton(what: str) -> NotImplementedError:
    return NotImplementedError(
        f"{what}: taeda launches no kernels of Triton. Register a kernel with custom_op, or one in C, C++ or "
        "CUDA with taeda.utils.cpp_extension"
    )
