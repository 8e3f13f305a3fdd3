"""One call of an operation as forward mode sees it: arguments, results, tangents, and what its
rule's formulas ask for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core

from .rules import _registry

__all__ = ["TENSOR", "TENSORS", "VALUE", "Call", "Facts", "changes", "facts", "spread"]

_VIEW = _core.row_flags["VIEW"]
VALUE, TENSOR, TENSORS = 0, 1, 2  # kinds of parameters, as core.op_parameters tells them


class Facts:
    """What is known of an op: its parameters, its rule and the way that tangents pass it."""

    def __init__(self, op: str) -> None:
        self.op = op
        parameters = _core.op_parameters(op)
        self.names = tuple(name for name, _ in parameters)
        self.kinds = tuple(kind for _, kind in parameters)
        self.rule = _registry.rules[op]
        name, dot, overload = op.partition(".")
        self.pure = name.rstrip("_") + dot + overload  # of index_put_: index_put
        kind, flags = _rows()[op]
        self.is_view = bool(flags & _VIEW) and not name.endswith("_")  # t_ changes its argument
        self.way, self.detail = _registry.tangents.get(op) or _registry.Forward(
            "linear" if self.is_view else "pointwise" if kind == "pointwise" else "transposed", {}
        )


@functools.cache
def _rows() -> dict[str, tuple[str, int]]:
    return {op: (kind, flags) for op, _, kind, _, _, flags in _core.op_rows()}


@functools.cache
def facts(op: str) -> Facts:
    """The facts of an op of the table."""
    return Facts(op)


class Call:
    """One call of an op: its arguments, what it returned, and the tangents of the arguments (lists
    for Tensor[]).
    """

    def __init__(
        self,
        known: Facts,
        args: tuple[Any, ...],
        results: tuple[Any, ...],
        tangent_of: Callable[[Tensor], Tensor | None],
    ) -> None:
        self.facts, self.args, self.results = known, args, results
        self.tangents = [
            _tangents_of(a, kind, tangent_of) for a, kind in zip(args, known.kinds, strict=True)
        ]

    def duals(self) -> Iterator[int]:
        """Numbers of the arguments that have a tangent."""
        return (k for k, t in enumerate(self.tangents) if t is not None)

    def _wanted(self) -> set[str]:
        """The names that the formulas of the dual arguments ask for."""
        formulas = self.facts.rule.formulas
        used = {"", *(self.facts.names[k] for k in self.duals())}
        return {p for name, (_, parameters) in formulas.items() if name in used for p in parameters}

    def _places(self) -> tuple[list[bool], list[bool]]:
        """Which arguments and which results the formulas ask for."""
        wanted = self._wanted()
        results = [
            f"result{k}" in wanted or (k == 0 and "result" in wanted)
            for k in range(len(self.results))
        ]
        return [name in wanted for name in self.facts.names], results

    def leaves(self) -> list[Tensor]:
        """The tensors that the tangents of the results are computed of."""
        parts = zip((*self.args, *self.results), chain(*self._places()), strict=True)
        whole = [value for value, wanted in parts if wanted], self.tangents
        return [x for x in _flat(whole) if changes(x)]

    def with_leaves(self, leaves: Iterable[Tensor]) -> Call:
        """The same call with other tensors for `leaves()`, and without a graph behind the rest."""
        rest = iter(leaves)
        made = Call.__new__(Call)
        made.facts = self.facts
        args, results = (
            tuple(_filled(v, rest if on else None) for v, on in zip(values, wanted, strict=True))
            for values, wanted in zip((self.args, self.results), self._places(), strict=True)
        )
        made.args, made.results, made.tangents = args, results, _filled(self.tangents, rest)
        return made

    def pull(self, grads: tuple[Any, ...], name: str = "") -> Any:
        """The gradient for an argument of that name by its formula; all of them by a joint one."""
        formula, parameters = self.facts.rule.formulas[name]
        given = {"grad": grads[0] if grads else None, "grads": grads, "needs": self.needs()}
        values = (given[p] if p in given else self.value(p) for p in parameters)
        return formula(*(map(_widened, values) if self.facts.rule.wide else values))

    def holds(self, tangent: Tensor) -> bool:
        """Whether it is the tangent of an argument."""
        return any(
            any(t is tangent for t in found) if isinstance(found, list) else found is tangent
            for found in self.tangents
        )

    def needs(self) -> tuple[bool, ...]:
        """For each Tensor argument, whether it has a tangent: the `needs` of a joint rule."""
        pairs = zip(self.tangents, self.facts.kinds, strict=True)
        return tuple(t is not None for t, kind in pairs if kind != VALUE)

    def value(self, name: str) -> Any:
        """What a formula's parameter of this name gets."""
        names = self.facts.names
        if name in names:
            return self.args[names.index(name)]
        if name.startswith("result"):
            return self.results[int(name[6:] or 0)]
        stem, _, fact = name.rpartition("_")
        place = names.index(stem)
        if fact == "t":
            return self.tangents[place]
        argument = self.args[place]
        if self.facts.kinds[place] == TENSORS:
            return tuple(map(_FACTS[fact], argument))
        return None if argument is None else _FACTS[fact](argument)

    def changed(self, replaced: dict[int, Any]) -> Any:
        """The op again, with other arguments."""
        return _core.call_op(
            self.facts.pure, tuple(replaced.get(k, a) for k, a in enumerate(self.args))
        )


_FACTS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: x.shape if isinstance(x, Tensor) else taeda.Size(()),
    "strides": lambda x: x.stride(),
    "offset": lambda x: x.storage_offset(),
    "dtype": lambda x: x.dtype,
}


_WIDE = {
    taeda.float16: taeda.float32,
    taeda.bfloat16: taeda.float32,
    taeda.complex32: taeda.complex64,
}


def _widened(value: Any) -> Any:
    """As backward/rules.c widens what it gives to a formula."""
    if isinstance(value, Tensor):
        return value.to(_WIDE[value.dtype]) if value.dtype in _WIDE else value
    return tuple(map(_widened, value)) if type(value) is tuple else value


def changes(x: Any) -> bool:
    """Whether it is a tensor of a type that derivatives exist for."""
    return isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex())


def spread(tangent: Tensor, like: Tensor) -> Tensor:
    """The tangent in the dtype and shape of `like`, itself where it has both."""
    if tangent.dtype is not like.dtype:
        tangent = tangent.to(like.dtype)
    return tangent if tangent.shape == like.shape else tangent.expand(like.shape)


def _tangents_of(argument: Any, kind: int, tangent_of: Callable[[Tensor], Tensor | None]) -> Any:
    if kind == TENSOR and isinstance(argument, Tensor):
        return tangent_of(argument)
    if kind != TENSORS or argument is None:
        return None
    found = [None if x is None else tangent_of(x) for x in argument]
    return found if any(t is not None for t in found) else None


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _filled(value: Any, leaves: Iterator[Tensor] | None) -> Any:
    """`value` with the next of `leaves` wherever a leaf is; detached if there are none."""
    if isinstance(value, (list, tuple)):
        made = [_filled(item, leaves) for item in value]
        return made if isinstance(value, list) else tuple(made)
    if not changes(value):
        return value
    return value.detach() if leaves is None else next(leaves)
