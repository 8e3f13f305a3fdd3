"""The general way of a tangent: the rule of backward, transposed.

A rule computes the gradients g = Jᵀ v of the arguments, linear in v. So <g, t> = <v, J t>, and its
derivative with respect to v is the tangent J t of the results. (Conjugates are understood; both
products are real parts.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor

from . import _engine
from ._backward import grad as _grad
from ._calls import VALUE, Call, changes
from .function import Function

__all__ = ["transposed"]


def transposed(call: Call) -> tuple[Any, ...]:
    """The tangents of the results of a call, None where they are zero."""
    leaves = call.leaves()
    watched = any(x.requires_grad for x in leaves)
    if watched and taeda.is_grad_enabled():
        made: tuple[Any, ...] = _Transposed.apply(call, *leaves)
        return made
    return _values(call.with_leaves([x.detach() for x in leaves]) if watched else call)


def _values(call: Call) -> tuple[Any, ...]:
    with taeda.enable_grad():
        cotangents = _dummies(call)
        pairs = [(g, t) for g, t in _pulled(call, cotangents) if g.requires_grad]
        wanted = [v for v in cotangents if v is not None]
        if not pairs or not wanted:
            return (None,) * len(cotangents)
        gradients, tangents = zip(*pairs, strict=True)
        found = iter(_grad(gradients, wanted, tangents, allow_unused=True))
    return tuple(None if v is None else next(found) for v in cotangents)


def _dummies(call: Call) -> tuple[Tensor | None, ...]:
    """Cotangents to differentiate by. Ones, because some formulas, though linear, take logarithms
    on their way.
    """
    count, results = call.facts.rule.differentiable_results, call.results
    return tuple(
        taeda.ones(r.shape, dtype=r.dtype, device=r.device, requires_grad=True)
        if changes(r) and (count < 0 or k < count) and (r.numel() or len(results) == 1)
        else None
        for k, r in enumerate(results)
    )


def _pulled(call: Call, cotangents: tuple[Any, ...]) -> Iterator[tuple[Tensor, Tensor]]:
    """Pairs (gradient, tangent) of the arguments that have tangents, gradients in the arguments' shapes."""
    names, formulas = call.facts.names, call.facts.rule.formulas
    if call.facts.rule.joint:
        tensors = [k for k, kind in enumerate(call.facts.kinds) if kind != VALUE]
        joint = call.pull(cotangents)
        joint = (joint,) if isinstance(joint, Tensor) else joint
        made = dict(zip(tensors, joint, strict=True))
    else:
        made = {
            k: call.pull(cotangents, names[k])
            for k in call.duals()
            if names[k] in formulas and _has_grad(formulas[names[k]][1], cotangents)
        }
    for k in call.duals():
        yield from _fitted(call.args[k], made.get(k), call.tangents[k])


def _has_grad(parameters: tuple[str, ...], cotangents: tuple[Any, ...]) -> bool:
    """A formula that wants `grad`, the gradient of the first result, is not asked where that has none."""
    return "grad" not in parameters or cotangents[0] is not None


def _fitted(argument: Any, gradient: Any, tangent: Any) -> Iterator[tuple[Tensor, Tensor]]:
    if gradient is None or tangent is None:
        return
    if isinstance(argument, (list, tuple)):
        for parts in zip(argument, gradient, tangent, strict=True):
            yield from _fitted(*parts)
        return
    yield (
        _engine.fit_gradient(gradient, argument.shape, argument.dtype, argument.device, None, 0),
        tangent.to(argument.dtype),
    )


class _Transposed(Function):
    """The tangents as one step of the graph.

    Its backward differentiates <rule(c), t>, that is, the rule once more, as backward twice does.
    Differentiating what computed the tangent instead would take a third derivative, which rules
    with results that are kept for them alone (the mean of a norm) do not have.
    """

    @staticmethod
    def forward(ctx: Any, call: Call, *leaves: Tensor) -> tuple[Any, ...]:
        """Tangents of the results."""
        ctx.call = call.with_leaves([x.detach() for x in leaves])
        ctx.save_for_backward(*leaves)
        return _values(ctx.call)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        """Gradients of arguments, results and tangents."""
        recorded = taeda.is_grad_enabled()
        with taeda.enable_grad():
            leaves = [
                x if not needed else taeda.alias(x) if recorded else x.detach().requires_grad_()
                for x, needed in zip(ctx.saved_tensors, ctx.needs_input_grad[1:], strict=True)
            ]
            wanted = [x for x in leaves if x.requires_grad]
            product = _product(ctx.call.with_leaves(leaves), cotangents)
            if product is None:
                return (None,) * (1 + len(leaves))
            found = iter(_grad(product, wanted, create_graph=recorded, allow_unused=True))
        return None, *(next(found) if x.requires_grad else None for x in leaves)


def _product(call: Call, cotangents: tuple[Any, ...]) -> Tensor | None:
    """<rule(cotangents), tangents>; None if it depends on nothing."""
    total = None
    for gradient, tangent in _pulled(call, cotangents):
        part = gradient * tangent.conj()
        part = (part.real if part.is_complex() else part).sum()
        total = part if total is None else total + part
    return total if total is not None and total.requires_grad else None
