"""Arguments of a trace of which no two are one tensor.

A graph has a placeholder for each argument. The recorder knows tensors by identity, so one tensor
that is given twice would be read from one placeholder only.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor, nn

__all__ = ["distinct"]


def distinct(value: Any, seen: set[int] | None = None) -> Any:
    """The same tree, in which a tensor that comes again is a copy, with its own place in a graph. (An
    alias would not do: transforms make views without operators, which are known by their memory.)

    >>> x = taeda.ones(2)
    >>> a, b = distinct((x, x))
    >>> a is x, b is x, b.equal(x)
    (True, False, True)
    """
    seen = set() if seen is None else seen
    if isinstance(value, Tensor):
        if id(value) in seen:
            return _copy(value)
        seen.add(id(value))
        return value
    if isinstance(value, tuple | list):
        parts = [distinct(v, seen) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        made = {key: distinct(v, seen) for key, v in value.items()}
        return made if type(value) is dict else _like(value, made)
    return value


def _like(value: dict[Any, Any], made: dict[Any, Any]) -> dict[Any, Any]:
    """A dict of the same class, if it is filled as dicts are."""
    same = all(made[key] is entry for key, entry in value.items())
    return value if same else type(value)(made)


def _copy(tensor: Tensor) -> Tensor:
    if tensor.requires_grad and not tensor.is_leaf:
        return tensor.clone()
    made = tensor.detach().clone()
    if isinstance(tensor, nn.Parameter):
        return nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)
