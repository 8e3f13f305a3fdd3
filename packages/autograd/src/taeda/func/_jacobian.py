"""Jacobians as transforms: by rows (jacrev), by columns (jacfwd), and the Hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor

from . import _tree
from ._backward import Argnums, chosen, vjp
from ._forward import jvp

__all__ = ["hessian", "jacfwd", "jacrev"]

Function = Callable[..., Any]


def _units(x: Tensor) -> list[Tensor]:
    return [row.reshape(x.shape) for row in taeda.eye(x.numel(), dtype=x.dtype, device=x.device)]


def _zeros_but(trees: list[Tensor], number: int, unit: Tensor) -> Iterator[Tensor]:
    return (unit if k == number else taeda.zeros_like(x) for k, x in enumerate(trees))


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


def _stacked(parts: list[Tensor], shape: Any, like: Tensor, dim: int) -> Tensor:
    return taeda.stack(parts, dim).reshape(shape) if parts else like.new_zeros(shape)


def jacrev(
    func: Function, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """The function that computes the Jacobian of `func`, one walk backward per element of the output.

    Form: that of the output, each tensor replaced by the form of the argument (a tuple for a tuple of argnums), whose leaves have the
    shape output.shape + argument.shape. chunk_size is checked only.

    >>> jacrev(lambda x: x * x)(taeda.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbers = chosen(args, argnums)
        partial, wanted = _of_some(func, args, kwargs, numbers)
        output, pullback, *aux = vjp(partial, *wanted, has_aux=has_aux)
        plain = _plain(output)

        def block(number: int) -> Any:
            rows = [
                _tree.leaves(pullback(_tree.filled(output, _zeros_but(plain, number, unit))))
                for unit in _units(plain[number])
            ]
            shape = plain[number].shape
            made = _tree.filled(
                wanted,
                iter(
                    [
                        _stacked([row[k] for row in rows], shape + x.shape, x, 0)
                        for k, x in enumerate(_tree.leaves(wanted))
                    ]
                ),
            )
            return made if isinstance(argnums, tuple) else made[0]

        found = _tree.filled(output, map(block, range(len(plain))))
        return (found, aux[0]) if has_aux else found

    return wrapper


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """The function that computes the Jacobian of `func`, one call of it per element of the argument; form as in `jacrev`.

    randomness is checked only: every call draws its own numbers.

    >>> jacfwd(jacfwd(lambda x: x ** 3))(taeda.tensor(2.0))
    tensor(12.)
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        numbers = chosen(args, argnums)
        partial, wanted = _of_some(func, args, kwargs, numbers)
        inputs = _plain(wanted)
        columns = [
            [
                jvp(
                    partial,
                    wanted,
                    _tree.filled(wanted, _zeros_but(inputs, k, unit)),
                    has_aux=has_aux,
                )
                for unit in _units(x)
            ]
            for k, x in enumerate(inputs)
        ]
        first = next((column[0] for column in columns if column), None)
        output, *aux = first[::2] if first else _called(partial, wanted, has_aux)

        def block(number: int, shape: Any, like: Tensor) -> Any:
            parts = (
                _stacked([_tree.leaves(c[1])[number] for c in column], shape + x.shape, like, -1)
                for column, x in zip(columns, inputs, strict=True)
            )
            made = _tree.filled(wanted, parts)
            return made if isinstance(argnums, tuple) else made[0]

        outputs = _plain(output)
        found = _tree.filled(output, iter([block(k, o.shape, o) for k, o in enumerate(outputs)]))
        return (found, aux[0]) if has_aux else found

    return wrapper


def _called(partial: Function, wanted: tuple[Any, ...], has_aux: bool) -> tuple[Any, ...]:
    made = partial(*wanted)
    return made if has_aux else (made,)


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """The function that computes the Hessian of `func`: forward over backward.

    >>> hessian(lambda x: (x ** 3).sum())(taeda.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
