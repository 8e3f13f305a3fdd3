"""Questions about dtypes, schemes and modules that several files ask."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda

__all__ = [
    "INTEGERS",
    "Factory",
    "is_float_qparams",
    "is_per_channel",
    "is_symmetric",
    "range_of",
    "with_args",
]

#: by dtype the least and the greatest integer that it holds
INTEGERS = {
    taeda.quint8: (0, 255), taeda.uint8: (0, 255), taeda.qint8: (-128, 127), taeda.int8: (-128, 127),
    taeda.qint32: (-(2**31), 2**31 - 1), taeda.int32: (-(2**31), 2**31 - 1), taeda.quint4x2: (0, 15),
    taeda.int16: (-(2**15), 2**15 - 1), taeda.uint16: (0, 2**16 - 1),
}  # fmt: skip


def is_per_channel(scheme: Any) -> bool:
    """Whether each channel has a scale."""
    return scheme in (
        taeda.per_channel_affine, taeda.per_channel_symmetric, taeda.per_channel_affine_float_qparams,
    )  # fmt: skip


def is_symmetric(scheme: Any) -> bool:
    """Whether the range is as wide on both sides of 0."""
    return scheme in (taeda.per_tensor_symmetric, taeda.per_channel_symmetric)


def is_float_qparams(scheme: Any) -> bool:
    """Whether zero points are floats."""
    return scheme is taeda.per_channel_affine_float_qparams


def range_of(
    dtype: Any, reduce_range: bool, quant_min: int | None, quant_max: int | None
) -> tuple[int, int]:
    """The integers that are used: those that were asked for, or those of the dtype; a bit less if
    `reduce_range`. ValueError for a dtype without integers, AssertionError for a range that it does not hold.
    """
    if dtype not in INTEGERS:
        raise ValueError(f"an observer of integers wants a dtype of integers, but got {dtype}")
    low, high = INTEGERS[dtype]
    if quant_min is not None and quant_max is not None:
        if not quant_min < quant_max:
            raise AssertionError(
                f"quant_min must be less than quant_max, but got {quant_min} and {quant_max}"
            )
        if not quant_min <= 0 <= quant_max:
            raise AssertionError(
                f"the range of integers must include 0, but got {quant_min} to {quant_max}"
            )
        if high - low > 255 and quant_max - quant_min > high - low:
            raise AssertionError(
                f"{dtype} holds {low} to {high}, but got {quant_min} to {quant_max}"
            )
        low, high = quant_min, quant_max
        return (low // 2, high // 2) if reduce_range else (low, high)
    return (low // 2, high // 2) if reduce_range and high <= 255 else (low, high)


class Factory:
    """A class with some of its arguments: called, it makes a module. `with_args` gives one with more.

    >>> make = taeda.ao.quantization.default_observer
    >>> watch = make()
    >>> type(watch).__name__, watch.quant_min, watch.quant_max
    ('MinMaxObserver', 0, 127)
    >>> make.with_args(dtype=taeda.qint8, quant_min=-64, quant_max=63)().quant_min
    -64
    """

    def __init__(self, p: functools.partial[Any]) -> None:
        self.p = p
        self.callable_args: dict[str, Callable[[], Any]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        late = {name: make() for name, make in self.callable_args.items() if name not in kwargs}
        return self.p(*args, **{**kwargs, **late})

    def __repr__(self) -> str:
        return repr(self.p) + repr(self.callable_args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factory) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self.p.func)

    def _facts(self) -> tuple[Any, ...]:
        return self.p.func, self.p.args, self.p.keywords, self.callable_args

    def with_args(self, **kwargs: Any) -> Factory:
        """With more arguments."""
        return with_args(self, **kwargs)

    def with_callable_args(self, **kwargs: Callable[[], Any]) -> Factory:
        """With arguments that are made by a call of theirs when a module is made."""
        made = with_args(self)
        made.callable_args = {**self.callable_args, **kwargs}
        return made


def with_args(maker: Any, **kwargs: Any) -> Factory:
    if isinstance(maker, Factory):
        merged = {**maker.p.keywords, **kwargs}
        made = Factory(functools.partial(maker.p.func, *maker.p.args, **merged))
        made.callable_args = dict(maker.callable_args)
        return made
    return Factory(functools.partial(maker, **kwargs))
