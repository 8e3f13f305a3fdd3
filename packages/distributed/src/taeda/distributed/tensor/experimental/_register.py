"""Rules for operators by programs, and plain tensors that count as whole on every rank."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .. import _settings
from .._rules._call import Call, Strategy, Value
from ..placement_types import Placement

__all__ = ["implicit_replication", "register_sharding"]


def register_sharding(op: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a function that says how DTensors of an operator, or of several, may lie.

    The function gets the operator's arguments, with an object that has `shape`, `ndim`, `dtype` and
    `placements` for each tensor, and returns pairs: placements of the results, and of the arguments
    (None for those that are no tensors). It stands before the package's own rule. The pair in which
    all is whole need not be listed. TypeError for what is no operator.

    >>> from taeda.distributed.tensor import Replicate, Shard
    >>> from taeda.distributed.tensor.experimental import register_sharding
    >>> @register_sharding(taeda.ops.aten.sinc.default)
    ... def rows(x):
    ...     return [([Shard(0)], [Shard(0)])]
    """
    ops = list(op) if isinstance(op, (list, tuple)) else [op]
    for one in ops:
        if not hasattr(one, "_schema"):
            raise TypeError(
                f"register_sharding takes operators such as taeda.ops.aten.add.Tensor, not {one!r}"
            )

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for one in ops:
            _settings.register(str(one), _answering(function, str(one)))
        return function

    return register


def _answering(
    function: Callable[..., Any], name: str
) -> Callable[[Call, Any], Iterator[Strategy]]:
    def answer(call: Call, func: Any) -> Iterator[Strategy]:
        declared = [argument.name for argument in func._schema.arguments]
        before = [call.args[key] for key in declared[: call.positional]]
        named = {key: call.args[key] for key in list(call.args)[call.positional :]}
        keywords = {a.name for a in func._schema.arguments if a.kwarg_only}
        given = {
            key: value for key, value in named.items() if key not in keywords or value is not None
        }
        for pair in function(*before, **given):
            outs, ins = pair
            yield _strategy(call, declared, list(outs), list(ins), name)

    return answer


def _strategy(
    call: Call, declared: Sequence[str], outs: list[Any], ins: list[Any], name: str
) -> Strategy:
    placed: list[Placement | None] = [None] * len(call.values)
    flat = iter(ins)
    for key in declared:
        value = call.args.get(key)
        if isinstance(value, Value):
            placed[call.index[key]] = next(flat, None)
        elif isinstance(value, list) and any(isinstance(one, Value) for one in value):
            given = next(flat, None)
            each = given if isinstance(given, (list, tuple)) else [given] * len(value)
            tensors = [p for one, p in zip(value, each, strict=True) if isinstance(one, Value)]
            for at, place in zip(call.index[key], tensors, strict=True):
                placed[at] = place
        else:
            next(flat, None)
    if len(outs) != len(call.outs):
        raise ValueError(
            f"register_sharding({name}): {len(outs)} placements of results, which are {len(call.outs)}"
        )
    for at, place in enumerate(placed):
        if place is None and call.values[at].spec is not None:
            raise ValueError(
                f"register_sharding({name}): no placement of tensor {at} of the arguments"
            )
    return Strategy(tuple(placed), tuple(outs))


@contextlib.contextmanager
def implicit_replication() -> Iterator[None]:
    """Inside, plain tensors among DTensors are taken to be the same on all ranks.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import ones
    >>> from taeda.distributed.tensor.experimental import implicit_replication
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = ones(2, device_mesh=mesh)
    >>> with implicit_replication():
    ...     (x + taeda.tensor([1.0, 2.0])).to_local()
    tensor([2., 3.])
    >>> dist.destroy_process_group()
    """
    with _settings.replicating():
        yield
