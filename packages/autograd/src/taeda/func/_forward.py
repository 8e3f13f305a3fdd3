"""Transforms that go forward: jvp, linearize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import TRANSFORM, hidden
from taeda.autograd.batching import (
    NeedsValue,
    each_sample,
    new_levels,
    rewrapped,
    standing,
    taken_apart,
    unwrapped,
)
from taeda.autograd.forward_ad import (
    dual_of_samples,
    exit_dual_level,
    make_dual,
    opens_level,
    unpack_dual,
)

from . import _tree
from ._backward import pull, with_aux
from ._level import Level, deriving

__all__ = ["jvp", "linearize"]

Function = Callable[..., Any]
_RETURNS = "expected f(*primals) to return"


def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """(func(*primals), its derivative along `tangents`[, aux]): both are tuples of one form.

    In forward mode; inside another jvp, or while another thread is in one, by backward twice.

    Args:
        func: a function of tensors, or of trees of them.
        primals: tuple of the arguments.
        tangents: tuple of the directions, of the form of `primals`.
        strict: whether an output that does not depend on the arguments raises RuntimeError (False).
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).

    >>> jvp(taeda.sin, (taeda.tensor(0.0),), (taeda.tensor(2.0),))
    (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to "
            "call f(*primals)."
        )
    if not _tree.same_form(primals, tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. "
            "For example, if primals is a tuple of 3 tensors, tangents also must be."
        )
    if _core.is_forward_on() or not opens_level():  # a level of this thread, or of another one
        output, slopes, aux = _twice_backward(func, primals, tangents, has_aux)
    else:
        try:
            output, slopes, aux = _forward(func, primals, tangents, has_aux)
        finally:
            exit_dual_level()
    if strict and any(s is None for s in slopes):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    values = _tree.leaves(output)
    made = [taeda.zeros_like(v) if s is None else s for v, s in zip(values, slopes, strict=True)]
    product = _tree.filled(output, iter(made))
    return (output, product, aux) if has_aux else (output, product)


def _values(tree: Any) -> Any:
    return _tree.mapped(_primal, tree)


def _dual(primal: Tensor, tangent: Tensor) -> Tensor:
    """A dual tensor, of all samples where a map is at work: then each has a value of its own, too."""
    return dual_of_samples(primal, tangent) if standing() else make_dual(primal, tangent)


def _tangent(x: Tensor) -> Tensor | None:
    plain, numbers = unwrapped(x)
    slope = unpack_dual(plain).tangent
    made: Tensor | None = None if slope is None else rewrapped(slope, numbers)
    return made


def _primal(x: Tensor) -> Tensor:
    plain, numbers = unwrapped(x)
    made: Tensor = rewrapped(unpack_dual(plain).primal, numbers)
    return made


def _forward(
    func: Function, primals: Any, tangents: Any, has_aux: bool
) -> tuple[Any, list[Any], Any]:
    """In the level that is open."""
    with deriving(taeda.is_grad_enabled()):
        pairs = zip(_tree.leaves(primals), _tree.leaves(tangents), strict=True)
        inner = _tree.filled(primals, iter([_dual(p, t) for p, t in pairs]))
        output, aux = with_aux(func(*inner), has_aux, "jvp")
        made = _tree.require_tensors(output, f"jvp(f, primals, tangents): {_RETURNS}")
        slopes = [_tangent(o) for o in made]
        return _values(output), slopes, _values(aux) if has_aux else None


def _check_tangents(primals: list[Tensor], tangents: list[Tensor]) -> None:
    for number, (p, t) in enumerate(zip(primals, tangents, strict=True)):
        if p.shape != t.shape:
            raise RuntimeError(
                f"tangent:{number} with shape {t.shape} in flattened pytree doesn't match the "
                f"shape {p.shape} of the corresponding primal."
            )


class _Pushforward:
    """A function whose graph is kept, to be differentiated along any tangent: backward, and its transpose."""

    def __init__(self, func: Function, primals: Any, has_aux: bool, name: str) -> None:
        self.level = Level()
        with self.level:
            self.inner = self.level.enter(primals)
            self.output, self.aux = with_aux(func(*self.inner), has_aux, name)
            self.level.check_unwritten()
            self.outputs = _tree.require_tensors(self.output, f"{name}(f, ...): {_RETURNS}")
            self._transpose()

    def _transpose(self) -> None:
        with hidden(TRANSFORM), taken_apart(self.level.maps):
            self._transpose_plain()

    def _transpose_plain(self) -> None:
        self.plain = [self.level.plain(o) for o in self.outputs]
        kept = [o for o in self.plain if o.requires_grad]
        self.pulls = [taeda.ones_like(o.detach()).requires_grad_() for o in kept]
        self.level.owns(self.pulls)
        self.pulled = (
            taeda.autograd.grad(
                kept,
                [self.level.plain(x) for x in _tree.leaves(self.inner)],
                self.pulls,
                create_graph=True,
                materialize_grads=True,
            )
            if kept
            else ()
        )

    def along(self, tangents: list[Tensor]) -> list[Tensor | None]:
        """The derivative of each output, None where it has none."""
        _check_tangents(_tree.leaves(self.inner), tangents)
        self.level.recorded = taeda.is_grad_enabled()
        with self.level:
            pairs = [(g, t) for g, t in zip(self.pulled, tangents, strict=False) if g.requires_grad]
            if not pairs:
                return [None] * len(self.outputs)
            mapped = self.level.mapped
            tops, pulls = [mapped(g) for g, _ in pairs], [mapped(p) for p in self.pulls]
            found = pull(self.level, tops, pulls, [t for _, t in pairs])
            made = iter([self.level.leave(f) for f in found])
        return [next(made) if o.requires_grad else None for o in self.plain]


def _twice_backward(
    func: Function, primals: Any, tangents: Any, has_aux: bool
) -> tuple[Any, list[Any], Any]:
    push = _Pushforward(func, primals, has_aux, "jvp")
    slopes = push.along(_tree.leaves(tangents))
    aux = push.level.leave(push.aux) if has_aux else None
    return push.level.leave(push.output), slopes, aux


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """(func(*primals), the function from tangents to the derivative along them): `func` runs once.

    Args:
        func: a function of tensors, or of trees of them.
        *primals: the arguments at which it is linearized.

    >>> value, push = linearize(lambda x: x * x, taeda.tensor([1.0, 3.0]))
    >>> push(taeda.tensor([1.0, 0.0]))
    tensor([2., 0.])
    """
    push = _Pushforward(func, primals, False, "linearize")

    def along(*tangents: Any) -> Any:
        if not _tree.same_form(tangents, primals):
            raise RuntimeError(
                "expected the tangents to have the same python structure as the primals"
            )
        if new := new_levels(_tree.leaves(tangents), push.level.maps):
            return _again(func, primals, tangents, along, new)
        slopes = push.along(_tree.leaves(tangents))
        made = (
            taeda.zeros_like(o.detach()) if s is None else s
            for o, s in zip(push.outputs, slopes, strict=True)
        )
        return _tree.filled(push.output, made)

    return push.level.leave(push.output), along


def _again(func: Function, primals: Any, tangents: Any, along: Function, new: Any) -> Any:
    """The derivative along tangents of a map that began after the function ran: it runs again, for
    all samples; for one after another if it asks for values, which samples have not.
    """
    try:
        return jvp(func, primals, tangents)[1]
    except NeedsValue:
        return each_sample(new[-1], lambda one: along(*one), tangents)
