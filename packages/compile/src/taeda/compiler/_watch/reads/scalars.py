"""Numbers that each call gives anew, and arithmetic with them: inputs of the graph where a tensor is
the other operand.
"""

from __future__ import annotations

import operator
import random
import sys
import types
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ..._errors import CannotCopy
from ..._graph.scalars import Number
from ..._kinds import is_library, is_plain_tensor
from ..rewrite import node_of
from ..scalars import DRAWS, given_names
from .calls import Calls

__all__ = ["Scalars"]

_DTYPES = (taeda.float32, taeda.float64)  # others are rounded in another way beside a number
_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in ("add", "sub", "mul", "truediv")
}


class Scalars(Calls):
    """Sees arithmetic."""

    def give(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """(args, kwargs) with a float of its own for each that the function only computes with: no
        other object is that one.
        """
        owned = isinstance(function, types.MethodType)
        plain = function.__func__ if isinstance(function, types.MethodType) else function
        # what another callable says of its code may be that of a function which it calls
        names = _given(plain.__code__) if isinstance(plain, types.FunctionType) else frozenset()
        if not names:
            return args, kwargs
        code = plain.__code__
        own = code.co_varnames[owned : code.co_argcount]
        # a keyword that is named as a parameter by position alone is none of it
        named_ones = names.difference(code.co_varnames[: code.co_posonlyargcount])
        places = [(n, own[n] if n < len(own) else "", v) for n, v in enumerate(args)]
        found = {
            n: self._given_anew(n, v) for n, name, v in places if name in names and _is_float(v)
        }
        named = {
            k: self._given_anew(k, v) for k, v in kwargs.items() if k in named_ones and _is_float(v)
        }
        return tuple(found.get(n, v) for n, v in enumerate(args)), {**kwargs, **named}

    def _given_anew(self, place: int | str, value: float) -> float:
        own = operator.neg(operator.neg(value))  # the same bits in another object
        return self._number(Number("given", place), own)

    def loose_places(self) -> tuple[Any, ...]:
        """Places of the floats among the arguments that nobody read."""
        places = [number.place for number, _ in self._numbers.values() if number.kind == "given"]
        found = [place for place in places if place not in self.read_places]
        return tuple(sorted(found, key=lambda place: (isinstance(place, str), place)))

    def given_numbers(self) -> dict[Any, float]:
        """What the floats were, by place."""
        held = self._numbers.values()
        return {number.place: value for number, value in held if number.kind == "given"}

    def _number(self, number: Number, value: float) -> float:
        self._numbers[id(value)] = number, value
        return value

    def number_of(self, value: Any) -> Number | None:
        """Where a float comes from, if each call gives it anew."""
        found = self._numbers.get(id(value))
        return None if found is None else found[0]

    def binary(self, op: str, inner: bool, left: Any, right: Any) -> Any:
        """left op right. The result of an `inner` one is an operand of another."""
        a, b = self.number_of(left), self.number_of(right)
        if not self.active or (a is None and b is None):
            return _FUNCTIONS[op](self.whole(left), self.whole(right))
        if inner and _is_number(left) and _is_number(right):
            return self._computed(op, left, right)
        if a is None and _takes(left):
            return _FUNCTIONS[op](left, self._as_tensor(b, right, left))
        if b is None and _takes(right):
            return _FUNCTIONS[op](self._as_tensor(a, left, right), right)
        self._read_numbers(a, b)
        return _FUNCTIONS[op](self.whole(left), self.whole(right))

    def _computed(self, op: str, left: Any, right: Any) -> Any:
        parts = [self.number_of(v) or Number("constant", v) for v in (left, right)]
        try:
            value = _FUNCTIONS[op](left, right)
        except ArithmeticError:
            self._read_numbers(*parts)
            raise
        return self._number(Number(op, None, tuple(parts)), value)

    def _as_tensor(self, number: Any, value: float, other: Tensor) -> Tensor:
        key = id(value), other.dtype
        if key not in self._scalars:
            self._scalars[key] = self.recorder.add_scalar(number, value, other.dtype)
        return self._scalars[key]

    def _read_numbers(self, *numbers: Number | None) -> None:
        """The program does something else with them: for graphs they are what they are now."""
        for number in numbers:
            for source in () if number is None else number.sources():
                if source.kind == "drawn":
                    self.stop(_DRAWS_IN_ANOTHER_WAY)
                else:
                    self.read_places.add(source.place)

    def draw(self, owner: Any, name: str, *args: Any) -> Any:
        """owner.name(*args), of which the result is a number that the program only computes with."""
        # another object is asked once: that may run code
        function = vars(random).get(name) if owner is random else None
        ours = function is not None and function == _DRAWS[name]
        if function is None or not (self.active and ours and all(map(_is_number, args))):
            return self.call(self.read(owner, name), *args)
        if not self._runs_once():
            self.stop(_DRAWS_IN_ANOTHER_WAY)
            return function(*args)
        self.guards.attribute(random, name, function)
        with self.aside():
            value = self._drawn(function, args)
        if not (self.active and _is_float(value)):  # `triangular(1, 1)` is the 1
            self.stop(_DRAWS_IN_ANOTHER_WAY)
            return value
        number = Number("drawn", len(self.recorder.draws), (function, args))
        self.recorder.draws.append(number)
        return self._number(number, value)

    def _drawn(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        try:
            return function(*args)
        except Exception:  # the generator has moved, perhaps, and the program may go on
            self.stop(_DRAWS_IN_ANOTHER_WAY, quiet=True)
            raise

    def _runs_once(self) -> bool:
        """Whether only the program and its modules call what runs now. Other parts of the library
        call a function twice, later, for no result, or not at all in other calls.
        """
        frame: Any = sys._getframe(1)
        while frame is not None and frame.f_code is not self.entered:
            space = frame.f_globals.get("__name__", "")
            seen = frame.f_code in self._codes and not is_library(space)
            if not (seen or space.startswith(_CALL_ONCE)):
                return False
            frame = frame.f_back
        return frame is not None


_DRAWS_IN_ANOTHER_WAY = "it draws from Python's random"
_CALL_ONCE = ("taeda.compiler.", "taeda.nn.modules.")
#: of the generator of the module, as it is imported
_DRAWS = {name: getattr(random, name) for name in DRAWS}


def _given(code: types.CodeType) -> frozenset[str]:
    """Parameters that code only computes with; none if its text is not known."""
    try:
        return given_names(node_of(code)[0])
    except CannotCopy:
        return frozenset()


def _is_float(value: Any) -> bool:
    return type(value) is float


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _takes(value: Any) -> bool:
    """Whether a number beside this tensor is what a tensor of its dtype without dimensions is."""
    return is_plain_tensor(value) and value.dtype in _DTYPES and value.device.type == "cpu"
