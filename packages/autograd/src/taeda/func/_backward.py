"""Transforms that go backward: grad, grad_and_value, vjp."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import TRANSFORM, hidden
from taeda.autograd import grad as _grad
from taeda.autograd.batching import NeedsValue, each_sample, new_levels, taken_apart

from . import _tree
from ._level import Level

__all__ = ["chosen", "grad", "grad_and_value", "pull", "vjp", "with_aux"]

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def chosen(args: tuple[Any, ...], argnums: Any) -> tuple[int, ...]:
    """Numbers of the arguments to differentiate by, counted from the front."""
    if not isinstance(argnums, (int, tuple)) or isinstance(argnums, bool):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    for number in numbers:
        if not -len(args) <= number < len(args):
            raise RuntimeError(f"Got argnum={number}, but only {len(args)} positional inputs")
    made = tuple(number % len(args) for number in numbers)
    if not made or len(set(made)) != len(made):
        raise RuntimeError(f"argnums must be different and at least one, got: {argnums}")
    return made


def with_aux(output: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """(output, aux), aux None where there is none."""
    if not has_aux:
        return output, None
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(
            f"{name}(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    _tree.require_tensors(output[1], "aux: Expected")
    return output


def pull(
    level: Level, outputs: list[Tensor], inputs: list[Tensor], cotangents: Any
) -> list[Tensor]:
    """Gradients; in a graph where somebody else watches."""
    # what is walked are plain tensors, of all samples
    with hidden(TRANSFORM), taken_apart(level.maps):
        results, leaves = [level.plain(o) for o in outputs], [level.plain(x) for x in inputs]
        if cotangents is not None:
            cotangents = [level.plain(g) for g in cotangents]
        elif level.maps:
            cotangents = [taeda.ones_like(o) for o in results]
        given = results if cotangents is None else [*results, *cotangents]
        found = (
            _grad(
                results,
                leaves,
                cotangents,
                retain_graph=True,
                create_graph=level.is_watched(given),
                materialize_grads=True,
            )
            if any(o.requires_grad for o in results)
            else [taeda.zeros_like(x) for x in leaves]
        )
        return [level.mapped(g) for g in found]


def _scalar(output: Any) -> Tensor:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}"
        )
    if output.dim() != 0:
        raise RuntimeError(
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    return output


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that computes (gradient, value) of `func`, which returns one number.

    Args:
        func: a function of tensors, or of trees of them, that returns one number.
        argnums: number of the argument to differentiate by, or a tuple of them, negative from the
            end (0).
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).

    >>> grad_and_value(lambda x: (x * x).sum())(taeda.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbers = chosen(args, argnums)
        with Level() as level:
            inner = list(args)
            for number in numbers:
                inner[number] = level.enter(args[number])
            wanted = tuple(inner[number] for number in numbers)
            output, aux = with_aux(func(*inner, **kwargs), has_aux, "grad_and_value")
            level.check_unwritten()
            value = _scalar(output)
            found = pull(level, [value], _tree.leaves(wanted), None)
            gradients = _tree.filled(wanted, map(level.leave, found))
            gradient = gradients if isinstance(argnums, tuple) else gradients[0]
            if has_aux:
                return gradient, (level.leave(value), level.leave(aux))
            return gradient, level.leave(value)

    return wrapper


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that computes the gradient of `func`, which returns one number; with has_aux
    (gradient, aux).

    By argument `argnums`, a tensor or a tree of tensors; a tuple of numbers gives a tuple of gradients.

    Args:
        func: a function of tensors, or of trees of them, that returns one number.
        argnums: number of the argument to differentiate by, or a tuple of them, negative from the
            end (0).
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).

    >>> grad(lambda x: x.sin())(taeda.tensor(0.0))
    tensor(1.)
    >>> grad(grad(lambda x: x ** 3))(taeda.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), a function from cotangents in the form of the output to gradients, a tuple[, aux]).

    Args:
        func: a function of tensors, or of trees of them.
        *primals: the arguments at which it is computed.
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).

    >>> value, pullback = vjp(lambda x: x * x, taeda.tensor([1.0, 3.0]))
    >>> pullback(taeda.ones(2))
    (tensor([2., 6.]),)
    """
    level = Level()
    with level:
        inner = tuple(level.enter(p) for p in primals)
        output, aux = with_aux(func(*inner), has_aux, "vjp")
        level.check_unwritten()
        outputs = _tree.require_tensors(output, "vjp(f, *primals): expected f(*primals) to return")

    def pullback(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        if not _tree.same_form(cotangents, output):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                "outputs to the function"
            )
        given = _tree.leaves(cotangents)
        for number, (g, o) in enumerate(zip(given, outputs, strict=True)):
            if g.shape != o.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{number}] has a shape of {g.shape} and "
                    f"output[{number}] has a shape of {o.shape}."
                )
        if new := new_levels(given, level.maps):
            return _again(func, primals, has_aux, cotangents, pullback, new)
        pairs = [(o, g) for o, g in zip(outputs, given, strict=True) if o.requires_grad]
        level.recorded = taeda.is_grad_enabled()
        with level:
            found = pull(level, [o for o, _ in pairs], _tree.leaves(inner), [g for _, g in pairs])
            made: tuple[Any, ...] = _tree.filled(inner, map(level.leave, found))
            return made

    value = level.leave(output)
    return (value, pullback, level.leave(aux)) if has_aux else (value, pullback)


def _again(
    func: Function, primals: Any, has_aux: bool, cotangents: Any, pullback: Function, new: Any
) -> tuple[Any, ...]:
    """The gradients for cotangents of a map that began after the function ran: it runs again, for
    all samples.

    A function that asks for values, which samples have not, is walked back for one sample after another.
    """
    try:
        made: tuple[Any, ...] = vjp(func, *primals, has_aux=has_aux)[1](cotangents)
    except NeedsValue:
        made = each_sample(new[-1], pullback, cotangents)
    return made
