"""Whether a trace holds for other arguments than those it was made with."""

from __future__ import annotations

from typing import Any

from ._expressions import Expression, symbol
from ._logic import Question
from ._parsed import parsed
from .sym_node import SymInt

__all__ = ["ForArguments"]


class ForArguments:
    """The part of a `ShapeEnv` that judges arguments."""

    guards: list[Question]
    _apart: set[str]  # symbols of sizes that are neither 0 nor 1

    def bind_symbols(self, placeholders: Any, args: Any) -> dict[str, int]:
        """What the symbols are for other arguments. `placeholders` are, for each argument, the
        sizes that the trace gave it: a tuple for a tensor, one expression for an integer.

        ValueError where one symbol would be two numbers, or where sizes are not those of the trace.
        """
        found: dict[str, int] = {}
        for wanted, value in zip(placeholders, args, strict=True):
            self._bind(wanted, value, found)
        return found

    def _bind(self, wanted: Any, value: Any, found: dict[str, int]) -> None:
        if isinstance(wanted, tuple):
            sizes = tuple(getattr(value, "shape", value))
            if len(sizes) != len(wanted):
                raise ValueError(f"wanted {len(wanted)} dimensions, got {len(sizes)}")
            for one, size in zip(wanted, sizes, strict=True):
                self._bind(one, size, found)
            return
        wanted = wanted.expr if isinstance(wanted, SymInt) else wanted
        number = wanted.number if isinstance(wanted, Expression) else wanted
        if number is not None:
            if number != value:
                raise ValueError(f"a size is {value}, and the trace holds for {number}")
        elif found.setdefault(str(wanted), value) != value:
            raise ValueError(
                f"{wanted} is {found[str(wanted)]} in one place and {value} in another"
            )

    def evaluate_guards_for_args(self, placeholders: Any, args: Any) -> bool:
        """Whether the trace holds for these arguments: sizes fit and the guards hold."""
        return not self.unfit_for_args(placeholders, args)

    def unfit_for_args(self, placeholders: Any, args: Any) -> str:
        """Why the trace does not hold for these arguments; "" if it does."""
        try:
            values = self.bind_symbols(placeholders, args)
        except ValueError as why:
            return str(why)
        for name, value in values.items():
            if value in (0, 1) and name in self._apart:
                return f"{name} is {value}, and sizes of 0 and 1 have traces of their own"
        known = (guard for guard in self.guards if guard.symbols() <= values.keys())
        broken = (guard for guard in known if not guard.value(values))
        return next((f"{guard} does not hold" for guard in broken), "")

    def produce_guards_expression(self, placeholders: Any) -> str | None:
        """The guards as text in `t0`, `t1` and so on, the integers that stand at these places, for
        `evaluate_guards_expression`; None if there are none. ValueError where a guard depends on a
        symbol that stands at none of them by itself.
        """
        names: dict[str, Expression] = {}
        for place, wanted in enumerate(placeholders):
            expr = wanted.expr if isinstance(wanted, SymInt) else wanted
            if isinstance(expr, Expression) and len(expr.symbols()) == 1:
                (name,) = expr.symbols()
                if expr == symbol(name):
                    names.setdefault(name, symbol(f"t{place}"))
        for guard in self.guards:
            if not guard.symbols() <= names.keys():
                free = ", ".join(sorted(guard.symbols() - names.keys()))
                raise ValueError(f"{guard} depends on {free}, which is none of the integers")
        return " and ".join(f"({g.replaced(names)})" for g in self.guards) or None

    def evaluate_guards_expression(self, code: str, args: Any) -> bool:
        """Whether guards that `produce_guards_expression` wrote hold for these integers."""
        return bool(parsed(code, {f"t{place}": value for place, value in enumerate(args)}))
