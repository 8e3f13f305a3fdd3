"""Structures of tensors, parted over the devices of one process and joined again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor
from taeda.cuda import comm

__all__ = ["gather", "is_namedtuple", "scatter", "scatter_kwargs"]


def is_namedtuple(obj: Any) -> bool:
    """Whether `obj` is a tuple whose fields have names.

    >>> from collections import namedtuple
    >>> from taeda.nn.parallel.scatter_gather import is_namedtuple
    >>> is_namedtuple(namedtuple("Batch", "x y")(1, 2)), is_namedtuple((1, 2))
    (True, False)
    """
    return isinstance(obj, tuple) and hasattr(obj, "_fields") and hasattr(obj, "_asdict")


def _like(obj: Any, parts: Sequence[Any]) -> Any:
    """The parts in a sequence of the kind of `obj`."""
    return type(obj)(*parts) if is_namedtuple(obj) else type(obj)(parts)


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """A structure for each device: tensors are parted along `dim`, what is no tensor, list, tuple or
    dict goes to all as it is. A tensor too short for all devices gives fewer structures.

    Args:
        inputs: a tensor, or tuples, lists and dicts with tensors in them.
        target_gpus: the devices, by number.
        dim: the dimension along which tensors are parted: 0 by default.

    >>> scatter({"scale": 2, "names": ["a"]}, [0, 1])
    ({'scale': 2, 'names': ['a']}, {'scale': 2, 'names': ['a']})
    """
    return tuple(_scattered(inputs, target_gpus, dim))


def _scattered(obj: Any, devices: Sequence[Any], dim: int) -> list[Any]:
    if isinstance(obj, Tensor):
        return list(comm.scatter(obj, devices, dim=dim))
    if isinstance(obj, dict) and obj:
        columns = [_scattered(value, devices, dim) for value in obj.values()]
        return [type(obj)(zip(obj, row, strict=True)) for row in zip(*columns, strict=False)]
    if isinstance(obj, (list, tuple)) and obj:
        columns = [_scattered(value, devices, dim) for value in obj]
        return [_like(obj, row) for row in zip(*columns, strict=False)]
    return [obj for _ in devices]


def scatter_kwargs(
    inputs: Sequence[Any], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """Arguments and named arguments for each device; what there are fewer of is filled up with none.

    >>> from taeda.nn.parallel.scatter_gather import scatter_kwargs
    >>> scatter_kwargs((3, "mean"), {"scale": 2}, [0])  # what is no tensor goes to each device
    (((3, 'mean'),), ({'scale': 2},))
    """
    rows = list(scatter(tuple(inputs), target_gpus, dim)) if inputs else []
    named = list(scatter(kwargs, target_gpus, dim)) if kwargs else []
    count = max(len(rows), len(named))
    rows += [()] * (count - len(rows))
    named += [{}] * (count - len(named))
    return tuple(rows), tuple(named)


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> Any:
    """One structure of those of all devices: tensors are joined along `dim` on `target_device`, a
    number or "cpu"; those without dimensions become one of one dimension.

    ValueError for structures of several shapes, TypeError for what is no structure of tensors.

    Args:
        outputs: a structure from each device, all of one form.
        target_device: a number, or "cpu".
        dim: the dimension along which tensors are joined: 0 by default.

    >>> gather([taeda.ones(1), taeda.zeros(2)], "cpu")
    tensor([1., 0., 0.])
    """
    if not outputs:
        raise ValueError("gather: nothing to join")
    first = outputs[0]
    if isinstance(first, Tensor):
        parts = [part.view(1) if part.dim() == 0 else part for part in outputs]
        return comm.gather(parts, 0 if first.dim() == 0 else dim, target_device)
    if first is None:
        return None
    if isinstance(first, dict):
        if any(set(one) != set(first) for one in outputs):
            raise ValueError(f"gather: dicts must have the same keys, got {[*map(list, outputs)]}")
        return type(first)(
            (k, gather([one[k] for one in outputs], target_device, dim)) for k in first
        )
    if isinstance(first, (list, tuple)):
        columns = zip(*outputs, strict=True)
        return _like(first, [gather(column, target_device, dim) for column in columns])
    raise TypeError(f"gather joins tensors in lists, tuples and dicts, got {type(first).__name__}")
