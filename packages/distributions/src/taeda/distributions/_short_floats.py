"""Distributions of float16 and bfloat16: what they say is computed in float32, and rounded once.

A density is a sum of terms, such as logarithms of gamma functions, that may be a thousand times as large as
their sum; in 16 bits nothing of it would be left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce, wraps
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import widened

from ._transform import Transform
from .utils import lazy_property

__all__ = ["has_short_parts", "is_short", "rounded", "rounds_once"]

#: what the classes of this package say of themselves in several steps
_SAID = ("log_prob", "cdf", "icdf", "entropy", "mean", "mode", "variance", "stddev")
_OF_VALUES = _SAID[:3]
#: the classes whose methods may run on a copy: not those of users, whose methods may do anything
_OWN: set[type] = set()
_PACKAGE = __name__.rpartition(".")[0] + "."


class _Unknown(Exception):
    """A part that is not of this package, or that a copy would not be equal to."""


def rounds_once(cls: Any) -> None:
    """Let the class, which is one of this package, compute in float32 where its parameters are shorter."""
    _OWN.add(cls)
    for name in _SAID:
        said = None if cls._passes_on and name in _OF_VALUES else cls.__dict__.get(name)
        if isinstance(said, property):
            setattr(cls, name, _read_widely(said.fget, said.__doc__))
        elif isinstance(said, lazy_property):
            said.wrapped = _widely(said.wrapped)
        elif said is not None:
            setattr(cls, name, _widely(said))


def _widely(method: Any) -> Callable[..., Any]:
    @wraps(method)
    def computed(self: Any, *values: Any, **named: Any) -> Any:
        short = self._is_short or is_short(*values, *named.values())
        if not (short and type(self) in _OWN):
            return method(self, *values, **named)
        checked = method.__name__ == "log_prob" and self._validate_args
        if checked:  # as they were given: rounded probabilities sum up to 1 in their own type alone
            self._validate_sample(*values, **named)

        def of_wide(wide: Any, *given: Any) -> Any:
            if checked:
                wide._validate_args = False
            count = len(values)
            return method(wide, *given[:count], **dict(zip(named, given[count:], strict=True)))

        return rounded(of_wide, self, *values, *named.values())

    return computed


def _read_widely(method: Any, doc: str | None) -> property:
    """The same for what is read; most are read of parameters that are long."""

    def read(self: Any) -> Any:
        return rounded(method, self) if self._is_short and type(self) in _OWN else method(self)

    return property(read, doc=doc)


def rounded(function: Callable[..., Any], *given: Any) -> Any:
    """`function` of distributions and values, all in float32, with its result in the type they have together;
    of those as they are, if one has a part that is not known.
    """
    valued = isinstance(given[-1], Tensor)
    try:
        wide = [_wide(x, valued) for x in given]
    except _Unknown:
        return function(*given)
    made, dtype = function(*wide), _common(_tensors(given))
    return made.to(dtype) if dtype.itemsize == 2 and made.is_floating_point() else made


def has_short_parts(given: Any) -> bool:
    """Whether a parameter of a distribution has 16 bits; False for the classes of users."""
    return type(given) in _OWN and is_short(*given.__dict__.values())


def is_short(*given: Any) -> bool:
    """Whether a tensor among the given, or a part of distributions and transforms among them, has 16 bits."""
    for part in given:
        if isinstance(part, Tensor):
            if part.dtype is taeda.float16 or part.dtype is taeda.bfloat16:
                return True
        elif type(part) in _OWN:
            if part._is_short:
                return True
        elif _is_own_transform(part):
            if is_short(*part.__dict__.values()):
                return True
        elif type(part) is list and is_short(*part):
            return True
    return False


def _is_own_transform(part: Any) -> bool:
    return isinstance(part, Transform) and type(part).__module__.startswith(_PACKAGE)


def _tensors(given: Any) -> Iterator[Tensor]:
    """Those of distributions, of their transforms, and of sequences of either."""
    if isinstance(given, Tensor):
        yield given
    elif isinstance(given, list | tuple):
        for part in given:
            yield from _tensors(part)
    elif type(given) in _OWN or _is_own_transform(given):
        for part in given.__dict__.values():
            yield from _tensors(part)


def _common(tensors: Iterable[Tensor]) -> taeda.dtype:
    """The type of what is computed from them: those with dimensions have the say, as in every operation."""
    floats = [t for t in tensors if t.is_floating_point()]
    saying = [t.dtype for t in floats if t.dim()] or [t.dtype for t in floats]
    return reduce(taeda.promote_types, saying)


def _wide(given: Any, valued: bool) -> Any:
    """The same in float32. What was computed when it was asked for is computed anew.

    valued: whether values are given too. What passes them on is none of the parts then, for the next
        distribution has to check them in their own type.
    """
    if isinstance(given, Tensor):
        return widened(given)
    if type(given) in (list, tuple):
        return type(given)(_wide(part, valued) for part in given)
    if _is_own_transform(given) and not given._cache_size:
        # what a cache holds is the very argument, which an inverse of rounded numbers may not find again
        return _copy(given, {**given.__dict__, "_inv": None}, valued)
    if type(given) in _OWN and not (valued and given._passes_on):
        computed = {"_computed", *given.__dict__.get("_computed", ())}
        parts = {k: v for k, v in given.__dict__.items() if k not in computed}
        return _copy(given, parts, valued)
    if isinstance(given, bool | int | float | str | None | taeda.Size):
        return given
    raise _Unknown


def _copy(given: Any, parts: dict[str, Any], valued: bool) -> Any:
    made = object.__new__(type(given))
    made.__dict__.update({name: _wide(part, valued) for name, part in parts.items()})
    made.__dict__.pop("_is_short", None)
    return made
