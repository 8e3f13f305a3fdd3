"""The ways a tangent passes an operation. Each gets a call and returns the tangents of its results,
None for zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor

from ._calls import VALUE, Call, changes, spread
from ._transpose import transposed

__all__ = ["tangents"]


def _zeros(x: Tensor) -> Tensor:
    """Zeros of the shape of `x` that take no memory."""
    return taeda.zeros((), dtype=x.dtype, device=x.device).expand(x.shape)


def _as_results(made: Any) -> tuple[Any, ...]:
    return (made,) if isinstance(made, Tensor) or made is None else tuple(made)


# ---- the ways ----


def _linear(call: Call) -> tuple[Any, ...]:
    def instead(argument: Any, tangent: Any) -> Any:
        if isinstance(argument, (list, tuple)):
            given = tangent or [None] * len(argument)
            return [instead(a, t) for a, t in zip(argument, given, strict=True)]
        if tangent is None:
            return _zeros(argument) if changes(argument) else argument
        return tangent.to(argument.dtype)

    names, kinds = call.facts.names, call.facts.kinds
    replaced = {
        k: instead(call.args[k], call.tangents[k]) for k, kind in enumerate(kinds) if kind != VALUE
    }
    replaced |= {names.index(name): value for name, value in call.facts.detail.items()}
    return _as_results(call.changed(replaced))


def _multilinear(call: Call) -> tuple[Any, ...]:
    parts = [call.changed({k: call.tangents[k].to(call.args[k].dtype)}) for k in call.duals()]
    return (_sum(parts),)


def _formula(call: Call) -> tuple[Any, ...]:
    formula, parameters = call.facts.detail
    return _as_results(formula(*map(call.value, parameters)))


def _sum(parts: list[Tensor]) -> Tensor | None:
    return functools.reduce(taeda.add, parts) if parts else None


def _pointwise(call: Call) -> tuple[Any, ...]:
    """A diagonal is its own transpose; with complex numbers the formulas multiply by the conjugate
    of the slope.
    """
    result, names = call.results[0], call.facts.names
    if any(call.args[k].is_complex() for k in call.duals()) and not result.is_complex():
        return transposed(call)
    given = [k for k in call.duals() if names[k] in call.facts.rule.formulas]
    parts = [_through(call, names[k], spread(call.tangents[k], result)) for k in given]
    return (_sum([part for part in parts if part is not None]),)


def _through(call: Call, name: str, tangent: Tensor) -> Tensor | None:
    if not tangent.is_complex():
        made: Tensor | None = call.pull((tangent,), name)
        return made
    made = call.pull((tangent.conj(),), name)
    return None if made is None else made.conj()


_WAYS: dict[str, Callable[[Call], tuple[Any, ...]]] = {
    "linear": _linear,
    "multilinear": _multilinear,
    "formula": _formula,
    "pointwise": _pointwise,
    "transposed": transposed,
}


def tangents(call: Call) -> tuple[Any, ...]:
    """The tangents of the results of a call, in their own shapes and dtypes or such that broadcast
    and cast to them.
    """
    return _WAYS[call.facts.way](call)
