"""What the core calls in forward mode: after an operation on a dual tensor its results get their tangents."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._core_api import runtime as _core

from ._calls import Call, changes, facts, spread
from ._places import laid_out_as, place, tangent_of
from ._tangents import tangents

__all__ = ["propagate", "tangent_of"]


def propagate(op: str, inplace: bool, args: tuple[Any, ...], results: tuple[Any, ...]) -> None:
    """Give the results of a call their tangents. `args` are as before the call wrote into them."""
    if not any(map(changes, results)):
        return
    known = facts(op)
    call = Call(known, args, results, tangent_of)
    # a write that does not depend on what was there has no formulas
    made = tangents(call) if known.rule.formulas else (None,) * len(results)
    for result, tangent in zip(results, made, strict=True):
        if not changes(result) or any(result is a for a in args):
            continue  # an operation may answer with its argument
        if known.is_view and result._is_view() and not inplace:
            _core.set_tangent(result, tangent)
        else:
            place(result, _fitted(result, tangent, call))


def _fitted(result: Tensor, tangent: Tensor | None, call: Call) -> Tensor | None:
    """A tangent of the result's shape, dtype and layout, in memory that no other tangent uses."""
    if tangent is None:
        return None
    if tangent.is_complex() and not result.is_complex():
        tangent = tangent.real
    tangent = spread(tangent, result)
    if tangent.is_complex():
        tangent = tangent.resolve_conj()
    tangent = tangent.resolve_neg()
    fitted = laid_out_as(result, tangent)
    shared = fitted is tangent and (tangent._is_view() or call.holds(tangent))
    return fitted.clone() if shared else fitted
