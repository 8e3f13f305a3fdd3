"""A module as a function of its parameters and buffers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from taeda import Tensor

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: Mapping[str, Tensor],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with other parameters and buffers, by path; those not given stay. They are put back.
    A tensor under a new name is an attribute for the time of the call.

    With `tie_weights`, names that are the same tensor in the module stay the same one. Raises ValueError if
    such names are given different tensors; with `strict`, RuntimeError for missing or unknown paths.

    Args:
        module: the module that is called.
        parameters_and_buffers: tensors by their path, such as "0.weight".
        args: the positional arguments, as a tuple; anything else is the one argument (None: none).
        kwargs: the keyword arguments (None: none).
        tie_weights: whether names of one tensor stay one (True).
        strict: whether missing or unknown paths raise (False).

    >>> scale = taeda.nn.Linear(1, 1, bias=False)
    >>> functional_call(scale, {"weight": taeda.ones(1, 1) * 2}, taeda.ones(1))
    tensor([2.])
    """
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(
        module, parameters_and_buffers, tie_weights=tie_weights, strict=strict
    ):
        return module(*args, **(kwargs or {}))


@contextlib.contextmanager
def _reparametrize_module(
    module: Any,
    parameters_and_buffers: Mapping[str, Tensor],
    *,
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """The module has these tensors inside of a `with` block. Libraries name it (zuko); the arguments are
    those of `functional_call`. All are put back in reverse order, so `stack_weights` finds nothing to do.
    """
    tensors = dict(parameters_and_buffers)
    if strict:
        _check_strict(module, tensors)
    if tie_weights:
        tensors = _tied(module, tensors)
    with _swapped(module, tensors):
        yield


def _all_tensors(module: Any) -> dict[str, Tensor]:
    named = dict(module.named_parameters(remove_duplicate=False))
    named.update(module.named_buffers(remove_duplicate=False))
    return named


def _check_strict(module: Any, tensors: dict[str, Tensor]) -> None:
    own = _all_tensors(module)
    named = _tied(module, tensors)
    missing, unknown = own.keys() - named.keys(), named.keys() - own.keys()
    if missing or unknown:
        raise RuntimeError(
            f"Error(s) in functional_call: missing key(s) {sorted(missing)}, unexpected key(s) "
            f"{sorted(unknown)}"
        )


def _tied(module: Any, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Also the other names of every tensor that is given."""
    own = _all_tensors(module)
    groups: dict[int, list[str]] = {}
    for name, tensor in own.items():
        groups.setdefault(id(tensor), []).append(name)
    full = dict(tensors)
    for name, tensor in tensors.items():
        for other in groups[id(own[name])] if name in own else ():
            if full.setdefault(other, tensor) is not tensor:
                raise ValueError(
                    f"functional_call got different tensors for {name!r} and {other!r}, which are tied"
                )
    return full


@contextlib.contextmanager
def _swapped(module: Any, tensors: dict[str, Tensor]) -> Iterator[None]:
    """The tensors in the places they are named for, for the time of a `with` block."""
    kept: list[tuple[Any, str, Any]] = []
    try:
        for path, tensor in tensors.items():
            prefix, _, name = path.rpartition(".")
            table = _table(module.get_submodule(prefix), name)
            kept.append((table, name, table.get(name, _missing)))
            table[name] = tensor
        yield
    finally:
        for table, name, tensor in reversed(kept):
            if tensor is _missing:
                del table[name]
            else:
                table[name] = tensor


_missing = object()


def _table(owner: Any, name: str) -> Any:
    """Where `name` is kept."""
    for table in (owner._parameters, owner._buffers):
        if name in table:
            return table
    return owner.__dict__
