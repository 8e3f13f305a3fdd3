"""How a derivative rule is written, and where it goes: straight into the table of the C engine.

    rule(
        "mul.Tensor",
        self=lambda grad, other: grad * other.conj(),
        other=lambda grad, self: grad * self.conj(),
    )

One formula per Tensor argument, a short function in differentiable operations, so that double
backward comes by itself. The names of its parameters say what it needs, and nothing else is kept
alive:

| parameter | gets |
|---|---|
| `grad` / `grads` | gradient of the first result / tuple of those of all results, None for none |
| an argument's name | that argument: a saved Tensor, guarded against later writes, or the value |
| `<tensor argument>_shape` `_strides` `_offset` `_dtype` | facts of it; its memory is not kept |
| `result`, `result0`, `result1`, ... | saved results |
| `needs` | tuple of bools: which Tensor arguments want a gradient (one bool for a Tensor[]) |

Numbers of 16 bits reach a formula as float32: each of its steps would be rounded to 16 bits, and might
leave their range, where float32 is rounded once, at the end. `as_is=True` hands them on as they are, for
formulas that move numbers, or are one operation of core, which computes in float32 itself.

A formula for a Tensor[] argument returns a sequence of gradients. A returned gradient that is larger than the
argument by broadcasting is summed down by the engine, and cast to the argument's dtype. None means zero.
Use the `_shape` form whenever only the shape is wanted: it costs no memory and forgives in-place writes.

Forward mode needs nothing more: what a tangent becomes follows from the same formulas. A shorter
way can be stated:

| beside the rule | the tangent of the result |
|---|---|
| nothing, for a pointwise op | the sum of formula(grad=tangent): a diagonal is its own transpose |
| nothing, for any other op | the formula transposed: the derivative of <formula(v), tangent> by v |
| `linear("cat", ...)` | the op applied to the tangents of all arguments (zeros for none) |
| `multilinear("mm", ...)` | the sum over the arguments of the op with that argument's tangent in its place |
| `forward("dot", formula)` | its own formula; a parameter `<argument>_t` gets a tangent or None |
| `by_transposition("sgn", ...)` | as for any other op: pointwise, but not analytic |

Views need nothing: a view of the tangent is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import taeda
from taeda._core_api import runtime as _native

__all__ = [
    "Rule", "by_transposition", "differentiated", "forward", "linear", "multilinear", "not_differentiable",
    "rule", "rule_as_is", "rule_joint", "rule_joint_as_is", "rules", "tangents",
]  # fmt: skip


def differentiated() -> bool:
    """Whether somebody may ask for a derivative of what a formula computes: it is recorded, or a dual level
    is open. Only where not may a formula take what has no derivative: a kernel of its own, or statistics
    that were saved.
    """
    return taeda.is_grad_enabled() or _native.is_forward_on()


class Rule(NamedTuple):
    """A rule as it was written: formulas with the names of their parameters; the joint one under "".
    `wide`: they are given float32 in place of 16-bit floats.
    """

    joint: bool
    formulas: dict[str, tuple[Callable, tuple[str, ...]]]
    differentiable_results: int
    wide: bool = False


class Forward(NamedTuple):
    """How tangents pass an op: "linear", "multilinear", "formula" or "transposed", and what that
    way needs to know.
    """

    way: str
    detail: Any = None


rules: dict[str, Rule] = {}
tangents: dict[str, Forward] = {}


def _parameters(formula: Callable) -> tuple[str, ...]:
    code = formula.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def rule(
    name: str, *, differentiable_results: int = -1, as_is: bool = False, **formulas: Callable
) -> None:
    """Give op `name` ("mul.Tensor") one formula per Tensor argument; arguments left out get no gradient.

    differentiable_results: how many leading results carry a gradient; -1 means every floating-point one.
    as_is: 16-bit floats are not widened.
    """
    parts = {argument: (formula, _parameters(formula)) for argument, formula in formulas.items()}
    _register(name, Rule(False, parts, differentiable_results, not as_is))


def _register(name: str, made: Rule) -> None:
    _native.register_rule(name, made.joint, made.formulas, made.differentiable_results, made.wide)
    rules[name] = made


def rule_joint(
    name: str, *, differentiable_results: int = -1, as_is: bool = False
) -> Callable[[Callable], Callable]:
    """Give op `name` one formula that returns a tuple: a gradient (or None) per Tensor argument, in
    schema order.
    """

    def register(formula: Callable) -> Callable:
        parts = {"": (formula, _parameters(formula))}
        _register(name, Rule(True, parts, differentiable_results, not as_is))
        return formula

    return register


#: for families whose formulas move numbers or are one operation each
rule_as_is = partial(rule, as_is=True)
rule_joint_as_is = partial(rule_joint, as_is=True)


def not_differentiable(name: str, reason: str) -> None:
    """State that results of op `name` carry no gradient, and why."""
    if not reason:
        raise ValueError(f"{name}: say why it is not differentiable")
    _register(name, Rule(False, {}, 0))


# ---- forward mode ----


def linear(*names: str, **values: Any) -> None:
    """Ops that are linear in all their floating-point Tensor arguments together; `values` replace
    plain arguments.
    """
    for name in names:
        tangents[name] = Forward("linear", values)


def multilinear(*names: str) -> None:
    """Ops that are linear in each floating-point Tensor argument while the others stay."""
    for name in names:
        tangents[name] = Forward("multilinear")


def forward(name: str, formula: Callable) -> None:
    """Give op `name` a formula for the tangent of its result (a tuple of them for several results)."""
    tangents[name] = Forward("formula", (formula, _parameters(formula)))


def by_transposition(*names: str) -> None:
    """Pointwise ops whose formulas are no multiplication by an analytic slope: the general way is taken."""
    for name in names:
        tangents[name] = Forward("transposed")
