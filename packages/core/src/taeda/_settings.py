"""Switches of a process: repeatable results, precision of products, warnings, threads between
operations, tiny numbers.
"""

from __future__ import annotations

from typing import Any

from taeda._warnings import warn

from ._native import core as _core

__all__ = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always", "use_deterministic_algorithms",
]  # fmt: skip

_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")
TF32 = 1  # a flag of `cuda_product_rounding`


class _Chosen:
    deterministic = warn_only = warn_always = False
    fill = True
    precision = "highest"
    interop: int | None = None  # None: not set yet


def _flag(value: Any, asked: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{asked} must be bool, not {type(value).__name__}")
    return value


# ---- repeatable results ----


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for results that repeat bit for bit.

    Operations here are written to do so anyway, with any number of threads, so none refuses. Two
    things change. `empty` and its forms are filled
    (`taeda.utils.deterministic.fill_uninitialized_memory`). And a sample's result has the same bits
    in whatever batch it comes: products and convolutions no longer take another way for few rows or
    images, which costs time there. Holds for the layers of `nn` in eval mode, and on a CUDA device
    but for products that cuBLASLt computes: it chooses its way by the sizes. TypeError for no bool.

    Args:
        mode: True asks for it, False takes it back.
        warn_only: what `is_deterministic_algorithms_warn_only_enabled` tells; False by default.

    >>> taeda.use_deterministic_algorithms(True)
    >>> taeda.empty(2).tolist()
    [nan, nan]
    >>> taeda.use_deterministic_algorithms(False)
    """
    _Chosen.deterministic = _flag(mode, "use_deterministic_algorithms(): argument 'mode'")
    _Chosen.warn_only = _flag(warn_only, "use_deterministic_algorithms(): argument 'warn_only'")
    _core.set_batch_invariant(_Chosen.deterministic)
    _apply_fill()


def _apply_fill() -> None:
    _core.set_fill_fresh(_Chosen.deterministic and _Chosen.fill)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether repeatable results were asked for.

    >>> taeda.are_deterministic_algorithms_enabled()
    False
    """
    return _Chosen.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether an operation that cannot repeat itself should only warn.

    >>> taeda.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _Chosen.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by number or word: 0 "default", 1 "warn", 2 "error".

    RuntimeError for another value, TypeError for another type.

    Args:
        debug_mode: 0, 1 or 2, or its word.

    >>> taeda.set_deterministic_debug_mode("error")
    >>> taeda.are_deterministic_algorithms_enabled()
    True
    >>> taeda.set_deterministic_debug_mode("default")
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    number = _MODES.index(debug_mode) if debug_mode in _MODES else debug_mode
    if number not in (0, 1, 2):
        wanted = "0, 1, or 2" if isinstance(debug_mode, int) else f"one of {_MODES}"
        raise RuntimeError(f"invalid value of debug_mode, expected {wanted}, but got {debug_mode}")
    use_deterministic_algorithms(number != 0, warn_only=number == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: not asked for, warn, error.

    >>> taeda.get_deterministic_debug_mode()
    0
    """
    return (1 if _Chosen.warn_only else 2) if _Chosen.deterministic else 0


# ---- the rest ----


def set_float32_matmul_precision(precision: str) -> None:
    """Allow products of float32 to be less precise: "highest", "high" or "medium".

    On CUDA devices "high" and "medium" let cuBLASLt read 10 bits of each factor's fraction (TF32),
    as `backends.cuda.matmul.allow_tf32` does, which this sets. The processor computes in float32
    whatever this says. Another word warns and changes nothing.

    Args:
        precision: "highest" (what holds at the start), "high" or "medium".

    >>> taeda.set_float32_matmul_precision("high")
    >>> taeda.get_float32_matmul_precision()
    'high'
    >>> taeda.set_float32_matmul_precision("highest")
    """
    if precision not in _PRECISIONS:
        warn(
            f"{precision!r} is not one of {_PRECISIONS}; the precision stays {_Chosen.precision!r}",
        )
        return
    _Chosen.precision = precision
    _core.cuda_product_rounding(TF32, precision != "highest")


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` allows.

    >>> taeda.get_float32_matmul_precision()
    'highest'
    """
    return _Chosen.precision


def set_warn_always(b: bool) -> None:
    """Whether a warning that would come once should come each time.
    Ours come each time; Python's filters decide.

    Args:
        b: what `is_warn_always_enabled` tells; TypeError for no bool.

    >>> taeda.set_warn_always(True)
    >>> taeda.is_warn_always_enabled()
    True
    >>> taeda.set_warn_always(False)
    """
    _Chosen.warn_always = _flag(b, "set_warn_always(): argument 'b'")


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told.

    >>> taeda.is_warn_always_enabled()
    False
    """
    return _Chosen.warn_always


def set_num_interop_threads(count: int) -> None:
    """How many operations may run at once. They run one after the other, so this is a bound that is kept.

    RuntimeError for fewer than one, and the second time.

    Args:
        count: an int of 1 or more; TypeError for another type.

    >>> taeda.set_num_interop_threads(0)
    Traceback (most recent call last):
    RuntimeError: set_num_interop_threads expects a positive integer, got 0
    """
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"set_num_interop_threads expects an int, but got {type(count).__name__}")
    if count < 1:
        raise RuntimeError(f"set_num_interop_threads expects a positive integer, got {count}")
    if _Chosen.interop is not None:
        raise RuntimeError(
            "cannot set number of interop threads after set_num_interop_threads was called"
        )
    _Chosen.interop = count


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told, 1 before.

    >>> taeda.get_num_interop_threads() >= 1
    True
    """
    return 1 if _Chosen.interop is None else _Chosen.interop


def set_flush_denormal(mode: bool) -> bool:
    """Let this thread's operations treat numbers too small for the normal form as 0, which can be faster.

    Return whether the processor can. TypeError for no bool.

    Args:
        mode: True to read and write them as 0, False to keep them.

    >>> taeda.set_flush_denormal(True) and (taeda.tensor(1e-40) * 1.0).item()
    0.0
    >>> taeda.set_flush_denormal(False)
    True
    """
    return _core.set_flush_denormal(_flag(mode, "set_flush_denormal(): argument 'mode'"))
