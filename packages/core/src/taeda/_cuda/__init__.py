"""Rows of the op table that CuPy computes on a CUDA device: Fourier transforms and factorizations.
CuPy is imported when the first of them is called. Rows that other rows of the device compute
(bags.py, bits.py, counts.py), and LDL, which the host computes (ldl.py), need no CuPy.

A row's function gets CuPy, its results as CuPy's arrays on memory of ours, and the arguments of the
row, tensors as CuPy's arrays. Shapes, dtypes and refusals are those of the row on meta tensors.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from functools import cache
from typing import Any

from taeda import Tensor
from taeda._native import core as _core

__all__ = ["ROWS", "asked_on_meta", "find"]

FAMILIES = ("fft", "linalg")
COMPOSED = ("bags", "bits", "counts", "ldl")  # by other rows, or on the host
UNKNOWN = ("bfloat16", "complex32", "float8_e4m3fn", "float8_e5m2")  # dtypes that CuPy has not
Row = Callable[..., None]


@cache
def ROWS() -> dict[str, Row]:  # noqa: N802 - a table, filled at its first use
    """The function of each row that CuPy computes, by the row's name with its overload."""
    found: dict[str, Row] = {}
    for family in FAMILIES:
        found |= importlib.import_module(f"taeda._cuda.{family}").ROWS
    return found


def find(text: str) -> Callable[..., Any] | None:
    """What computes the row with this schema, or None. NotImplementedError if it needs CuPy and
    there is none.
    """
    name = text.partition("(")[0].partition("::")[2] or text.partition("(")[0]
    if composed := _composed(name):
        return lambda *arguments: _compose(composed, text, arguments)
    row = ROWS().get(name)
    if row is None:
        return None
    cupy = _cupy()
    return lambda *arguments: _run(cupy, row, text, arguments)


def _composed(name: str) -> Callable[..., Any] | None:
    families = (importlib.import_module(f"taeda._cuda.{family}") for family in COMPOSED)
    return next((family.ROWS[name] for family in families if name in family.ROWS), None)


def _compose(row: Callable[..., Any], text: str, arguments: tuple[Any, ...]) -> Any:
    """By other rows, after what the row refuses is refused."""
    _core.call_backend(text, tuple(map(_on_meta, arguments)))
    return row(*arguments)


def asked_on_meta(text: str) -> Callable[..., Any]:
    """A function that raises what the row with this schema says to such tensors without a device;
    NotImplementedError without words if it takes them.
    """

    def ask(*arguments: Any) -> Any:
        _core.call_backend(text, tuple(map(_on_meta, arguments)))
        raise NotImplementedError

    return ask


def _on_meta(argument: Any) -> Any:
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(_on_meta, argument))
    return argument.to("meta") if isinstance(argument, Tensor) else argument


def _cupy() -> Any:
    if importlib.util.find_spec("cupy") is None:
        raise NotImplementedError(
            "CuPy computes it, and is not installed: pip install taeda-core[cuda12], or "
            "taeda-core[cuda13], or cupy-cuda12x alone"
        )
    try:
        return importlib.import_module("cupy")
    except ImportError as error:
        raise NotImplementedError(f"CuPy computes it, and cannot be imported: {error}") from error


def _run(cupy: Any, row: Row, text: str, arguments: tuple[Any, ...]) -> Any:
    tensors = [a for a in arguments if isinstance(a, Tensor)]
    device = next(a.device for a in tensors if a.device.type == "cuda")
    for tensor in tensors:
        if str(tensor.dtype).partition(".")[2] in UNKNOWN:
            raise NotImplementedError(f"CuPy computes it, and has no {tensor.dtype}")
    wanted = _core.call_backend(text, tuple(map(_on_meta, arguments)))
    several = isinstance(wanted, tuple)
    made = [_on(device, w) for w in (wanted if several else (wanted,))]
    if any(m.numel() for m in made):
        with cupy.cuda.Device(device.index), _stream(cupy, device), _memory(cupy):
            row(
                cupy,
                [cupy.from_dlpack(m) for m in made],
                *(_lent(cupy, a, device) for a in arguments),
            )
    return tuple(made) if several else made[0]


def _on(device: Any, like: Tensor) -> Tensor:
    """Memory for a result of these sizes, strides and dtype."""
    import taeda

    return taeda.empty_strided(like.size(), like.stride(), dtype=like.dtype, device=device)


def _lent(cupy: Any, argument: Any, device: Any) -> Any:
    if not isinstance(argument, Tensor):
        return argument
    return cupy.from_dlpack(argument.to(device))  # a number of the cpu goes with any device


def _stream(cupy: Any, device: Any) -> Any:
    """CuPy queues its work where ours is: what comes before and after is in order."""
    from taeda.cuda import current_stream

    return cupy.cuda.ExternalStream(current_stream(device).cuda_stream, device.index)


def _memory(cupy: Any) -> Any:
    """What CuPy allocates meanwhile comes from our pool: two pools would each keep what the other needs."""
    return cupy.cuda.using_allocator(_allocator(cupy))


@cache
def _allocator(cupy: Any) -> Any:
    from taeda.cuda import caching_allocator_alloc, caching_allocator_delete

    return cupy.cuda.PythonFunctionAllocator(
        caching_allocator_alloc, lambda address, device: caching_allocator_delete(address)
    ).malloc
