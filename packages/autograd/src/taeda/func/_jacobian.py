"""Jacobians as transforms: by rows (jacrev), by columns (jacfwd), and the Hessian."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda.autograd.batching import NeedsValue, each_alone

from . import _tree
from ._backward import Argnums, chosen, vjp
from ._forward import jvp
from ._level import left_inference
from ._vmap import vmap

__all__ = ["hessian", "jacfwd", "jacrev"]

Function = Callable[..., Any]


def _plain(tree: Any) -> list[Tensor]:
    return [x.detach() for x in _tree.leaves(tree)]


def _of_some(
    func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], numbers: tuple[int, ...]
) -> tuple[Function, tuple[Any, ...]]:
    """`func` as a function of the arguments to differentiate by alone."""

    def partial(*wanted: Any) -> Any:
        inner = list(args)
        for number, value in zip(numbers, wanted, strict=True):
            inner[number] = value
        return func(*inner, **kwargs)

    return partial, tuple(args[number] for number in numbers)


def _basis(tensors: list[Tensor]) -> list[Tensor]:
    """For each tensor the directions of all of them, one after another along dimension 0: units in
    its own block, zeros else.
    """
    total = sum(x.numel() for x in tensors)
    made, start = [], 0
    for x in tensors:
        whole = x.new_zeros((total, x.numel()))
        whole[start : start + x.numel()] = taeda.eye(x.numel(), dtype=x.dtype, device=x.device)
        made.append(whole.reshape(total, *x.shape))
        start += x.numel()
    return made


def _blocks(whole: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """What belongs to each tensor's directions, along dimension 0."""
    return list(whole.split([x.numel() for x in tensors]))


def _by_vmap(run: Function, basis: Any, chunk_size: int | None, randomness: str = "error") -> Any:
    """`run` for every direction at once; one after another if it asks for values, which samples have not,
    or writes to a tensor of its own that knows nothing of samples.
    """
    try:
        return vmap(run, randomness=randomness, chunk_size=chunk_size)(basis)
    except NeedsValue as why:
        count = _tree.leaves(basis)[0].shape[0]
        made = each_alone(why, lambda k: run(_tree.mapped(operator.itemgetter(k), basis)), count)
        columns = zip(*map(_tree.leaves, made), strict=True)
        return _tree.filled(made[0], (taeda.stack(column) for column in columns))


def jacrev(
    func: Function, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """The function that computes the Jacobian of `func`, by walking back for all elements of the
    output at once.

    Form: that of the output, each tensor replaced by the form of the argument (a tuple for a tuple
    of argnums), whose leaves have the shape output.shape + argument.shape. `chunk_size` elements of
    the output are walked at a time.

    Args:
        func: a function of tensors, or of trees of them.
        argnums: number of the argument to differentiate by, or a tuple of them, negative from the
            end (0).
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).
        chunk_size: elements of the output that are walked at a time (None: all).

    >>> jacrev(lambda x: x * x)(taeda.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @left_inference
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbers = chosen(args, argnums)
        partial, wanted = _of_some(func, args, kwargs, numbers)
        output, pullback, *aux = vjp(partial, *wanted, has_aux=has_aux)
        outputs, inputs = _plain(output), _tree.leaves(wanted)
        rows = _rows(pullback, output, outputs, inputs, chunk_size)

        def block(number: int) -> Any:
            o = outputs[number]
            parts = (
                row[number].reshape(o.shape + x.shape) for row, x in zip(rows, inputs, strict=True)
            )
            made = _tree.filled(wanted, parts)
            return made if isinstance(argnums, tuple) else made[0]

        found = _tree.filled(output, map(block, range(len(outputs))))
        return (found, aux[0]) if has_aux else found

    return wrapper


def _rows(
    pullback: Function,
    output: Any,
    outputs: list[Tensor],
    inputs: list[Tensor],
    chunk_size: int | None,
) -> list[list[Tensor]]:
    """For each input, by output, the gradients of its elements along dimension 0."""
    total = sum(o.numel() for o in outputs)
    if total == 0:
        return [[x.new_zeros((0, *x.shape)) for _ in outputs] for x in inputs]
    directions = _tree.filled(output, iter(_basis(outputs)))
    if total == 1:
        made = _tree.leaves(pullback(_tree.mapped(lambda b: b[0], directions)))
        whole = [g.unsqueeze(0) for g in made]
    else:
        whole = _tree.leaves(_by_vmap(pullback, directions, chunk_size))
    return [_blocks(g, outputs) for g in whole]


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """The function that computes the Jacobian of `func`, forward along all elements of the argument
    at once; form as in `jacrev`.

    `randomness` says what random functions in `func` do, as in `vmap`.

    Args:
        func: a function of tensors, or of trees of them.
        argnums: number of the argument to differentiate by, or a tuple of them, negative from the
            end (0).
        has_aux: whether `func` returns a pair, whose second part is handed on as it is (False).
        randomness: "error" (default), "different" or "same".

    >>> jacfwd(jacfwd(lambda x: x ** 3))(taeda.tensor(2.0))
    tensor(12.)
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    @left_inference
    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbers = chosen(args, argnums)
        partial, wanted = _of_some(func, args, kwargs, numbers)
        inputs = _plain(wanted)
        if not sum(x.numel() for x in inputs):
            return _of_nothing(partial, wanted, inputs, has_aux, isinstance(argnums, tuple))
        directions = _tree.filled(wanted, iter(_basis(inputs)))

        def push(tangents: Any) -> Any:
            value, slope, *aux = jvp(partial, wanted, tangents, has_aux=has_aux)
            return value, slope, aux[0] if aux else ()

        values, slopes, aux = _by_vmap(push, directions, None, randomness)
        output = _tree.mapped(_first, values)

        def block(slope: Tensor) -> Any:
            parts = (
                part.movedim(0, -1).reshape(slope.shape[1:] + x.shape)
                for part, x in zip(_blocks(slope, inputs), inputs, strict=True)
            )
            made = _tree.filled(wanted, parts)
            return made if isinstance(argnums, tuple) else made[0]

        found = _tree.filled(output, iter([block(slope) for slope in _tree.leaves(slopes)]))
        return (found, _tree.mapped(_first, aux)) if has_aux else found

    return wrapper


def _first(value: Tensor) -> Tensor:
    return value[0]


def _of_nothing(
    partial: Function, wanted: tuple[Any, ...], inputs: list[Tensor], has_aux: bool, several: bool
) -> Any:
    """The Jacobian by arguments without elements."""
    output, *aux = _called(partial, wanted, has_aux)

    def block(o: Tensor) -> Any:
        made = _tree.filled(wanted, (o.new_zeros(o.shape + x.shape) for x in inputs))
        return made if several else made[0]

    found = _tree.filled(output, iter([block(o) for o in _plain(output)]))
    return (found, aux[0]) if has_aux else found


def _called(partial: Function, wanted: tuple[Any, ...], has_aux: bool) -> tuple[Any, ...]:
    made = partial(*wanted)
    return made if has_aux else (made,)


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """The function that computes the Hessian of `func`: forward over backward.

    Args:
        func: a function of tensors, or of trees of them, that returns one number.
        argnums: number of the argument to differentiate by, or a tuple of them, negative from the
            end (0).

    >>> hessian(lambda x: (x ** 3).sum())(taeda.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
