"""The size of a ragged dimension: a number that stands for lengths, and prints as `j1`."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, NoReturn

from taeda import Tensor

__all__ = ["NestedInt", "keep_size", "plain_sizes", "size_for"]

_FIRST = 1 << 30
_numbers = itertools.count(1)
#: by id of offsets: the tensor itself, as long as somebody has it, and its size
_known: dict[int, tuple[Any, NestedInt]] = {}


def _refuse(size: NestedInt, what: str) -> NoReturn:
    """TypeError for who takes the lengths for one number."""
    raise TypeError(
        f"{size!r} is the size of a ragged dimension, which stands for lengths that differ from row to "
        f"row: it has no {what}. x.offsets().diff() has the lengths, x.values().shape[0] is their sum"
    )


def _refusing(what: str) -> Any:
    """A method that refuses."""

    def method(self: NestedInt, *_: object) -> NoReturn:
        _refuse(self, what)

    return method


class NestedInt(int):
    """The lengths of a ragged dimension, as one size: equal where the offsets are one tensor.

    It is an int so that whatever holds sizes can hold it. It has no value: arithmetic, comparisons by
    size with what may be one of the lengths, and conversions are refused.
    """

    __ragged__ = True  # Size keeps such an int as it is

    def __repr__(self) -> str:
        return f"j{int.__sub__(self, _FIRST)}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __reduce__(self) -> Any:
        raise TypeError(f"the size {self!r} belongs to the tensor that has it: save that")

    def __copy__(self) -> NestedInt:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> NestedInt:
        return self

    def __lt__(self, other: object) -> bool:
        return self._ordered(other, "<", False)

    def __le__(self, other: object) -> bool:
        return self._ordered(other, "<=", False)

    def __gt__(self, other: object) -> bool:
        return self._ordered(other, ">", True)

    def __ge__(self, other: object) -> bool:
        return self._ordered(other, ">=", True)

    def _ordered(self, other: object, sign: str, above: bool) -> bool:
        """Lengths are at least 0; nothing else is known of all of them."""
        if isinstance(other, NestedInt) and self is other:
            return sign in ("<=", ">=")
        certain = 0 if sign in (">=", "<") else -1
        if isinstance(other, int) and not isinstance(other, NestedInt) and other <= certain:
            return above
        _refuse(self, f"order by {sign}")


for _name in (
    "int float trunc floor ceil round index complex add radd sub rsub mul rmul floordiv rfloordiv truediv "
    "rtruediv mod rmod divmod rdivmod pow rpow neg pos abs invert lshift rlshift rshift rrshift and rand or "
    "ror xor rxor"
).split():
    setattr(NestedInt, f"__{_name}__", _refusing(f"__{_name}__"))


def plain_sizes(sizes: Any) -> list[int]:
    """Sizes as ints, among which the ragged one stays what it is."""
    return [n if isinstance(n, NestedInt) else int(n) for n in sizes]


def size_for(offsets: Tensor | None) -> NestedInt:
    """The size that belongs to these offsets, the same each time; another of each None."""
    found = _known.get(id(offsets)) if offsets is not None else None
    if found is not None and found[0]() is offsets:
        return found[1]
    made = NestedInt(_FIRST + next(_numbers))
    if offsets is not None:
        keep_size(offsets, made)
    return made


def keep_size(offsets: Tensor, size: NestedInt) -> None:
    """From now on this size belongs to these offsets."""
    key = id(offsets)
    _known[key] = weakref.ref(offsets, lambda _: _known.pop(key, None)), size
