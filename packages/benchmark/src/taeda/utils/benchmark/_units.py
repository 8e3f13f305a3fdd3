"""Numbers for people: units of time and of memory, and as many digits as a measurement supports."""

from __future__ import annotations

import math

__all__ = ["select_unit", "spelled_bytes", "spelled_time", "trim_sigfig", "unit_to_english"]

_UNITS = (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0))
_ENGLISH = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}


def select_unit(seconds: float) -> tuple[str, float]:
    """The unit in which `seconds` reads best, and its length in seconds.

    >>> select_unit(3.2e-5)
    ('us', 1e-06)
    """
    fitting = [unit for unit in _UNITS if unit[1] <= seconds]
    return fitting[-1] if fitting else _UNITS[0]


def unit_to_english(unit: str) -> str:
    """The word for a unit that `select_unit` returns.

    >>> unit_to_english("us")
    'microsecond'
    """
    return _ENGLISH[unit]


def trim_sigfig(x: float, n: int) -> float:
    """`x` rounded to `n` significant figures. ValueError if `n` is below 1.

    >>> trim_sigfig(1234.5, 2)
    1200.0
    """
    if n < 1:
        raise ValueError(f"trim_sigfig keeps at least 1 figure, got n={n}")
    if x == 0 or not math.isfinite(x):
        return float(x)
    return float(f"{x:.{n - 1}e}")


def spelled_time(seconds: float) -> str:
    """
    >>> spelled_time(0.00042)
    '420.00 us'
    """
    unit, scale = select_unit(seconds)
    return f"{seconds / scale:.2f} {unit}"


def spelled_bytes(count: float) -> str:
    """
    >>> spelled_bytes(0), spelled_bytes(1536)
    ('0 B', '1.5 KiB')
    """
    names = ("B", "KiB", "MiB", "GiB")
    power = min(len(names) - 1, int(math.log2(count) // 10)) if count >= 1 else 0
    return f"{count / 1024**power:.3g} {names[power]}"
