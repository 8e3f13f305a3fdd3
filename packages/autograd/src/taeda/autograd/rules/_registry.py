"""How a derivative rule is written, and where it goes: straight into the table of the C engine.

    rule("mul.Tensor", self=lambda grad, other: grad * other.conj(), other=lambda grad, self: grad * self.conj())

One formula per Tensor argument, a short function in differentiable operations, so that double backward comes by
itself. The names of its parameters say what it needs, and nothing else is kept alive:

| parameter | gets |
|---|---|
| `grad` / `grads` | gradient of the first result / tuple of the gradients of all results, None where there is none |
| an argument's name | that argument: a saved Tensor, checked against later in-place writes, or the plain value |
| `<tensor argument>_shape` `_strides` `_offset` `_dtype` | facts of a Tensor argument (a tuple of them for Tensor[]), without keeping its memory |
| `result`, `result0`, `result1`, ... | saved results |
| `needs` | tuple of bools: which Tensor arguments want a gradient (one bool for a Tensor[]) |

A formula for a Tensor[] argument returns a sequence of gradients. A returned gradient that is larger than the
argument by broadcasting is summed down by the engine, and cast to the argument's dtype. None means zero.
Use the `_shape` form whenever only the shape is wanted: it costs no memory and forgives in-place writes.
"""

from __future__ import annotations

from collections.abc import Callable

from taeda._native import core as _native

__all__ = ["not_differentiable", "rule", "rule_joint"]


def _parameters(formula: Callable) -> tuple[str, ...]:
    code = formula.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def rule(name: str, *, differentiable_results: int = -1, **formulas: Callable) -> None:
    """Give op `name` ("mul.Tensor") one formula per Tensor argument; arguments left out get no gradient.

    differentiable_results: how many leading results carry a gradient; -1 means every floating-point one.
    """
    parts = {argument: (formula, _parameters(formula)) for argument, formula in formulas.items()}
    _native.register_rule(name, False, parts, differentiable_results)


def rule_joint(name: str, *, differentiable_results: int = -1) -> Callable[[Callable], Callable]:
    """Give op `name` one formula that returns a tuple: a gradient (or None) per Tensor argument, in schema order."""

    def register(formula: Callable) -> Callable:
        _native.register_rule(
            name, True, {"": (formula, _parameters(formula))}, differentiable_results
        )
        return formula

    return register


def not_differentiable(name: str, reason: str) -> None:
    """State that results of op `name` carry no gradient, and why."""
    if not reason:
        raise ValueError(f"{name}: say why it is not differentiable")
    _native.register_rule(name, False, {}, 0)
