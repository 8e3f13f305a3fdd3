"""DimConstraints: what a system of relations between sizes leaves each of them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ._conditions import implied
from ._expressions import Expression, Relation, constant, floor_div, symbol
from ._logic import Joined, Question
from ._ranges import ValueRanges, narrowed, settled

__all__ = ["DimConstraints"]

_SIZES = ValueRanges(0)


class DimConstraints:
    """Relations between sizes, solved: which sizes are one number only, and what the others may be.

    `symbol_to_source` says where each symbol is read, `var_to_val` what it is in this call,
    `marked_dynamic` which of them a user wants to vary, and `source_name_to_debug_name` how a place
    is called in messages.

    >>> from taeda.fx.experimental._expressions import modulo
    >>> n, m = symbol("n"), symbol("m")
    >>> sizes = DimConstraints({n: ["x.size(0)"], m: ["x.size(1)"]}, {n: 8, m: 6}, {n, m}, {})
    >>> for sign, number in ((">", 4), ("<", 9)):
    ...     _ = sizes.add(Relation(sign, n, constant(number)))
    >>> sizes.add(Relation("==", modulo(n, constant(4)), constant(0)))
    True
    >>> sizes.solve()
    >>> sizes.forced_specializations()
    {'x.size(0)': 8}
    """

    def __init__(
        self,
        symbol_to_source: Mapping[Expression, Any],
        var_to_val: Mapping[Expression, int],
        marked_dynamic: Collection[Expression],
        source_name_to_debug_name: Mapping[str, str],
    ) -> None:
        self.sources = {str(s): [str(o) for o in found] for s, found in symbol_to_source.items()}
        self.values = {str(s): v for s, v in var_to_val.items()}
        self.marked = {str(s) for s in marked_dynamic}
        self.names = dict(source_name_to_debug_name)
        self.relations: list[Question] = []
        self.equalities: list[tuple[str, Expression]] = []
        self.congruences: dict[str, set[tuple[int, int]]] = {}
        self.ranges: dict[str, ValueRanges] = {}
        self.numbers: dict[str, int] = {}

    # ---- what is demanded ----

    def add(self, expr: Question) -> bool:
        """Add a relation that holds in this call; whether it says anything of any symbol.
        ValueError for one that does not hold.
        """
        if expr.decided() is not None or implied(expr, self.relations) is True:
            if expr.decided() is False:
                raise ValueError(f"{expr} never holds")
            return False
        if not expr.value(self.values):
            raise ValueError(f"{expr} does not hold in this call: {self._said(expr)}")
        self.relations.append(expr)
        return True

    def _said(self, expr: Question) -> str:
        return ", ".join(f"{n} is {self.values[n]}" for n in sorted(expr.symbols()))

    def add_equality(self, source: Any, expr: Expression) -> None:
        """Say that what is read at a place is a formula, or a number."""
        self.equalities.append((str(source), expr))

    def rewrite_with_congruences(self, s: Expression, expr: Any) -> Any:
        """The same formula or relation without `% d`, and with exact quotients only, for what is
        linear in `s`: the remainder is taken to be that of this call, and noted in `congruences`.

        >>> n = symbol("n")
        >>> sizes = DimConstraints({n: ["x.size(0)"]}, {n: 9}, {n}, {})
        >>> sizes.rewrite_with_congruences(n, Relation("<", floor_div(n, constant(2)), constant(8)))
        n - 1 < 16
        >>> sizes.congruences
        {'n': {(2, 1)}}
        """
        if isinstance(expr, Joined):
            parts = tuple(self.rewrite_with_congruences(s, part) for part in expr.parts)
            return Joined(expr.sign, parts)
        if isinstance(expr, Relation):
            (a, below), (c, under) = (self._fraction(str(s), side) for side in _sides(expr))
            return Relation(expr.sign, a * constant(under), c * constant(below))
        numerator, below = self._fraction(str(s), expr)
        return floor_div(numerator, constant(below))

    def _fraction(self, name: str, expr: Expression) -> tuple[Expression, int]:
        total, under = constant(0), 1
        for product, factor in expr.terms.items():
            one, below = constant(factor), 1
            for atom, power in product:
                base, divisor = self._atom(name, atom)
                for _ in range(power):
                    one, below = one * base, below * divisor
            total, under = total * constant(below) + one * constant(under), under * below
        return total, under

    def _atom(self, name: str, atom: Any) -> tuple[Expression, int]:
        made = Expression({((atom, 1),): 1})
        if isinstance(atom, str) or atom.name not in ("floordiv", "mod"):
            return made, 1
        divisor = atom.right.number
        if divisor is None or divisor < 1:
            return made, 1
        left, slope = atom.left, atom.left.terms.get(((name, 1),), 0)
        if left != Expression({((name, 1),): slope, (): left.terms.get((), 0)}):
            return made, 1
        rest = left.value(self.values) % divisor
        step = divisor // math.gcd(slope, divisor)
        self.congruences.setdefault(name, set()).add((step, self.values[name] % step))
        return (constant(rest), 1) if atom.name == "mod" else (left - constant(rest), divisor)

    # ---- what is left ----

    def solve(self) -> None:
        """Find the range and the remainders of each symbol, and those that are one number only."""
        before = None
        while before != (self.ranges, self.numbers):
            before = dict(self.ranges), dict(self.numbers)
            fixed = {name: constant(value) for name, value in self.numbers.items()}
            for relation in self._parts():
                self._narrow(relation.replaced(fixed))
            for name in self.values:
                only = self._only(name)
                if only is not None:
                    self.numbers[name] = only

    def _parts(self) -> list[Relation]:
        """Relations of all kinds, as long as they need not be chosen from."""
        flat: list[Relation] = []
        for question in self.relations:
            inner = question.parts if isinstance(question, Joined) else (question,)
            if not isinstance(question, Joined) or question.sign == "and":
                flat.extend(part for part in inner if isinstance(part, Relation))
        for source, expr in self.equalities:
            root = self._symbol_at(source)
            if root is not None and root != expr:
                flat.append(Relation("==", root, expr))
        return flat

    def _symbol_at(self, source: str) -> Expression | None:
        found = (name for name, places in self.sources.items() if source in places)
        return next((symbol(name) for name in found), None)

    def _narrow(self, relation: Relation) -> None:
        names = relation.symbols()
        if len(names) != 1:
            return
        (name,) = names
        known = {name: self.ranges.get(name, _SIZES)}
        found = narrowed(self.rewrite_with_congruences(symbol(name), relation), known)
        if found is not None:
            self.ranges[found[0]] = found[1]

    def _modulus(self, name: str) -> int:
        """All sizes are that of this call but for multiples of this number."""
        return math.lcm(*(step for step, _ in self.congruences.get(name, ())))

    def _only(self, name: str) -> int | None:
        """The number that a symbol is, if it can be no other."""
        limits, step = self.ranges.get(name, _SIZES), self._modulus(name)
        value = self.values[name]
        return None if value - step in limits or value + step in limits else value

    def forced_specializations(self) -> dict[str, int]:
        """The sizes that a user wants to vary, and that are one number only, after `solve`: by the
        places where they are read.
        """
        return {
            self._called(name): number
            for name, number in self.numbers.items()
            if name in self.marked
        }

    def _called(self, name: str) -> str:
        place = self.sources[name][0]
        return self.names.get(place, place)

    def prettify_results(
        self,
        original_signature: inspect.Signature,
        dynamic_shapes: Any,
        constraint_violation_error: object,
        forced_specializations: Mapping[str, Any],
    ) -> str:
        """What to change, as text: the error, the arguments, and a line for each size that a user
        wants to vary. `dynamic_shapes` has names of sizes, as `{"x": {0: "batch"}}`.
        """
        names = dict(_named(dynamic_shapes))
        head = [str(constraint_violation_error)] if constraint_violation_error else []
        lines = [*head, f"What the program needs of its arguments, {original_signature}:"]
        for name in sorted(self.marked):
            place = self._called(name)
            said = names.get(self.sources[name][0], place)
            number = forced_specializations.get(place)
            lines.append(f" - {said} {self._left(name, number)}")
        lines.extend(f" - {relation}" for relation in self._between(names))
        return "\n".join(lines)

    def _left(self, name: str, number: Any) -> str:
        if number is not None:
            return f"is {number}"
        limits, step = self.ranges.get(name, _SIZES), self._modulus(name)
        said = [f"is at least {limits.lower}"] * (limits.lower > 0)
        said += [f"is at most {limits.upper}"] * (limits.upper != math.inf)
        said += [f"leaves {self.values[name] % step} when divided by {step}"] * (step > 1)
        return " and ".join(said) or "may be anything"

    def _between(self, names: Mapping[str, str]) -> list[str]:
        """Relations between several sizes that the numbers do not settle."""
        fixed: dict[str, Expression] = {n: constant(v) for n, v in self.numbers.items()}
        said = {n: symbol(names.get(p[0], self._called(n))) for n, p in self.sources.items()}
        open_ = [r.replaced(fixed) for r in self._parts()]
        left = [r for r in open_ if len(r.symbols()) > 1 and settled(r, self.ranges) is None]
        return [str(relation.replaced(said)) for relation in left]


def _sides(relation: Relation) -> tuple[Any, Any]:
    return relation.left, relation.right


def _named(dynamic_shapes: Any) -> Iterator[tuple[str, str]]:
    """The place and the name of each size that has one."""
    for argument, dims in dynamic_shapes.items() if isinstance(dynamic_shapes, dict) else ():
        pairs = dims.items() if isinstance(dims, dict) else enumerate(dims or ())
        for d, name in pairs:
            if name is not None:
                yield f"{argument}.size({d})", getattr(name, "__name__", str(name))
