"""Which sizes of the arguments may differ from call to call, and how they depend on each other."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.fx.experimental._expressions import Expression, constant, symbol
from taeda.fx.experimental._ranges import ValueRanges

__all__ = ["Derived", "Dim", "Symbols", "dims", "planned", "read_from", "solved"]

_SYMBOL = re.compile(r"\bs\d+\b")


class _Hint(Enum):
    """What is known of a size that has no name."""

    AUTO = "AUTO"
    DYNAMIC = "DYNAMIC"
    STATIC = "STATIC"


class Dim:
    """A size that differs from call to call, with a name; sizes of one name are equal.

    `min` and `max` limit it. `2 * dim + 1` is a size that depends on another one. `Dim.AUTO` is a
    size that becomes a number where the program makes it one, `Dim.DYNAMIC` one that must not, and
    `Dim.STATIC` is a number. TypeError for a name that is none, ValueError for an empty range.

    Args:
        name: the name, by which messages and equal sizes know it
        min: the least size (default: None)
        max: the largest size; None is no bound (default: None)

    >>> batch = Dim("batch", max=64)
    >>> 2 * batch + 1
    2*batch + 1
    """

    AUTO = _Hint.AUTO
    DYNAMIC = _Hint.DYNAMIC
    STATIC = _Hint.STATIC

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not (isinstance(name, str) and name.isidentifier()):
            raise TypeError(f"Dim: the name must be an identifier, got {name!r}")
        least, most = 0 if min is None else min, math.inf if max is None else max
        if least < 0 or least > most:
            raise ValueError(f"Dim {name}: no size is at least {least} and at most {most}")
        self.__name__, self.min, self.max = name, least, most

    def __mul__(self, other: int) -> Derived:
        return Derived(self, 1, 0) * other

    __rmul__ = __mul__

    def __add__(self, other: int) -> Derived:
        return Derived(self, 1, 0) + other

    __radd__ = __add__

    def __sub__(self, other: int) -> Derived:
        return self + -other

    def __repr__(self) -> str:
        return self.__name__


@dataclass(frozen=True)
class Derived:
    """`factor * root + shift`."""

    root: Dim
    factor: int
    shift: int

    def __mul__(self, other: int) -> Derived:
        if type(other) is not int or other <= 0:
            raise NotImplementedError(f"a Dim is multiplied by positive integers, got {other!r}")
        return Derived(self.root, self.factor * other, self.shift * other)

    __rmul__ = __mul__

    def __add__(self, other: int) -> Derived:
        if type(other) is not int:
            raise NotImplementedError(f"integers are added to a Dim, got {other!r}")
        return Derived(self.root, self.factor, self.shift + other)

    __radd__ = __add__

    def __sub__(self, other: int) -> Derived:
        return self + -other

    def __repr__(self) -> str:
        name = self.root.__name__
        text = name if self.factor == 1 else f"{self.factor}*{name}"
        return f"{text} + {self.shift}" if self.shift else text


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """A `Dim` for each of `names`, all from `min` to `max`. Errors are those of `Dim`.

    Args:
        names: a name for each Dim
        min: the least size of all (default: None)
        max: the largest size of all (default: None)

    >>> dims("height", "width", min=2)
    (height, width)
    """
    return tuple(Dim(name, min=min, max=max) for name in names)


@dataclass
class Symbols:
    """The symbols of a program: their ranges, which must not become numbers, and their names."""

    ranges: dict[str, ValueRanges]
    strict: set[str]
    shown: dict[str, str]
    sizes: dict[str, int]  # those of the example

    def is_named(self, name: str) -> bool:
        """Whether a symbol is a Dim of the user, and not a size without a name."""
        return self.shown[name].isidentifier()

    def text(self, formula: Any) -> str:
        """A formula, or what is said of one, with the user's names for sizes."""
        return _SYMBOL.sub(lambda found: self.shown.get(found[0], found[0]), str(formula))


def planned(
    leaves: list[tuple[str, Any, Any]],
    fixed: set[str],
    related: Mapping[str, Expression] | None = None,
) -> tuple[list[tuple[Expression, ...]], Symbols]:
    """What stands for each size of each tensor among (name, tensor, demands); the symbols in
    `fixed` are numbers, and those in `related` formulas. UserError for demands that contradict each
    other or the example.
    """
    symbols = Symbols({}, set(), {}, {})
    instead = related or {}
    plan = []
    for name, tensor, wanted in leaves:
        by_dim = _by_dimension(name, tensor, wanted)
        plan.append(
            tuple(
                _size(symbols, f"{name}.size({d})", n, by_dim.get(d), fixed).replaced(instead)
                for d, n in enumerate(tensor.shape)
            )
        )
    for name in (*fixed, *instead):
        symbols.ranges.pop(name, None)
    numbers = {name: constant(symbols.sizes[name]) for name in fixed if name in symbols.sizes}
    plan = [tuple(e.replaced(numbers) for e in exprs) for exprs in plan]  # formulas have them too
    _stand_alone(symbols, plan)
    return plan, symbols


def _by_dimension(name: str, tensor: Tensor, wanted: Any) -> dict[int, Any]:
    if wanted is None:
        return {}
    pairs = wanted.items() if isinstance(wanted, Mapping) else enumerate(wanted)
    made: dict[int, Any] = {}
    for dim, demand in pairs:
        if type(dim) is not int or not -tensor.dim() <= dim < tensor.dim():
            raise UserError(
                f"dynamic_shapes of {name}: {dim!r} is no dimension of a tensor of {tensor.dim()}"
            )
        made[dim % tensor.dim()] = demand
    if not isinstance(wanted, Mapping) and len(made) != tensor.dim():
        raise UserError(
            f"dynamic_shapes of {name}: {len(made)} entries for a tensor of {tensor.dim()} dimensions"
        )
    return made


def _size(symbols: Symbols, place: str, size: int, demand: Any, fixed: set[str]) -> Expression:
    if demand is None or demand is Dim.STATIC:
        return constant(size)
    if type(demand) is int:
        if demand != size:
            raise UserError(f"dynamic_shapes says that {place} is {demand}, and it is {size}")
        return constant(size)
    if isinstance(demand, _Hint):
        name = f"s{len(symbols.ranges)}"
        made = _entered(symbols, name, place, size, ValueRanges(0), demand is Dim.DYNAMIC)
        return constant(size) if name in fixed else made
    if isinstance(demand, Dim):
        demand = Derived(demand, 1, 0)
    if not isinstance(demand, Derived):
        raise UserError(
            f"dynamic_shapes of {place}: wanted a Dim, Dim.AUTO, Dim.DYNAMIC, Dim.STATIC, an int "
            f"or None, got {demand!r}"
        )
    return _named(symbols, place, size, demand)


def _named(symbols: Symbols, place: str, size: int, demand: Derived) -> Expression:
    root = demand.root
    value, rest = divmod(size - demand.shift, demand.factor)
    limits = ValueRanges(root.min, root.max)
    if rest or value not in limits:
        raise UserError(
            f"dynamic_shapes says that {place} is {demand} with {root.__name__} from {root.min} "
            f"to {root.max}, and it is {size}"
        )
    known = [n for n, shown in symbols.shown.items() if shown == root.__name__]
    name = known[0] if known else f"s{len(symbols.ranges)}"
    if known and symbols.sizes[name] != value:
        raise UserError(
            f"{root.__name__} is {symbols.sizes[name]} elsewhere, and {value} in {place}"
        )
    if known and symbols.ranges[name] != limits:
        raise UserError(f"there are two Dims {root.__name__} with different ranges")
    _entered(symbols, name, root.__name__, value, limits, True)
    return constant(demand.factor) * symbol(name) + constant(demand.shift)


def _entered(
    symbols: Symbols, name: str, shown: str, size: int, limits: ValueRanges, strict: bool
) -> Expression:
    symbols.ranges[name], symbols.sizes[name], symbols.shown[name] = limits, size, shown
    if strict:
        symbols.strict.add(name)
    return symbol(name)


def _stand_alone(symbols: Symbols, plan: list[tuple[Expression, ...]]) -> None:
    """Each symbol is read from a size; UserError for one that no size is, times a number and a shift."""
    found = {name for exprs in plan for e in exprs if (name := read_from(e)) is not None}
    for name in symbols.ranges:
        used = any(name in e.symbols() for exprs in plan for e in exprs)
        if used and name not in found:
            raise UserError(f"no size of the arguments tells {symbols.shown[name]}")


def read_from(expr: Expression) -> str | None:
    """The symbol that a size tells; None if it tells none, or several."""
    names = expr.symbols()
    if len(names) != 1:
        return None
    (name,) = names
    factor = expr.terms.get(((name, 1),), 0)
    rest = expr - constant(factor) * symbol(name)
    return name if factor > 0 and rest.number is not None else None


def solved(expr: Expression, size: int) -> int | None:
    """What the symbol of `read_from` is where the size is this; None if it is no integer."""
    (name,) = expr.symbols()
    least = expr.value({name: 0})
    value, rest = divmod(size - least, expr.value({name: 1}) - least)
    return None if rest else value
