"""Collectives that reduce: every rank gives values, the result combines them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._engines.base import Engine
from .._groups.checks import (
    Flat,
    check_op,
    check_tensor,
    check_tensors,
    describe,
    fits,
    flat,
    joins,
    outputs_apart,
    peer_of,
    same_kind,
)
from .._groups.group import also_method
from .._groups.work import Work
from .._groups.world import the_group
from .._sums.kernels import divide
from .._types import RedOpType, ReduceOp
from .._waiting import Deadline

__all__ = [
    "all_reduce",
    "all_reduce_coalesced",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
]


def _before(values: Tensor, op: ReduceOp) -> None:
    if op.op is RedOpType.PREMUL_SUM:
        values.mul_(op.factor)


def _after(values: Tensor, op: ReduceOp, size: int) -> None:
    if op.op is RedOpType.AVG:
        divide(values, size)


def _reduce_all(values: Tensor, op: ReduceOp, engine: Engine, deadline: Deadline) -> None:
    if op.op is RedOpType.AVG:
        engine.mean(values, deadline)
        return
    _before(values, op)
    engine.all_reduce(values, op, deadline)


@also_method
def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce `tensor` over all ranks, in place: every rank gets the same bits.

    Args:
        tensor: this rank's values, of the same shape and dtype on every rank; overwritten by the
            result.
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0])
    >>> dist.all_reduce(x)  # the sum over all ranks, here one
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    made = the_group(group, "all_reduce")
    if made is None:
        return None
    op = check_op(op, tensor, made)
    outputs_apart([tensor], "tensor")
    call = Call("all_reduce", f"all_reduce({op.name}, {describe(tensor)})")
    whole = Flat(tensor)
    call.payload = whole.values, op

    def act(engine: Engine, deadline: Deadline) -> None:
        _reduce_all(whole.values, op, engine, deadline)
        whole.back()

    return made.run(call, act, async_op=async_op, result=[tensor], on=[tensor])


def all_reduce_coalesced(
    tensors: Sequence[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce several tensors of one dtype over all ranks, as one message.

    Args:
        tensors: at least one tensor, all of one dtype, the same shapes on every rank; each is
            overwritten.
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> grads = [taeda.tensor([1.0, 2.0]), taeda.tensor([3.0])]
    >>> dist.all_reduce_coalesced(grads)
    >>> grads
    [tensor([1., 2.]), tensor([3.])]
    >>> dist.destroy_process_group()
    """
    checked = check_tensors(tensors, "tensors")
    made = the_group(group, "all_reduce_coalesced")
    if made is None:
        return None
    if not checked:
        raise ValueError("all_reduce_coalesced needs at least one tensor")
    op = check_op(op, checked[0], made)
    outputs_apart(checked, "tensors")
    call = Call("all_reduce_coalesced", f"all_reduce_coalesced({op.name}, {describe(checked)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        joined = taeda.cat([flat(tensor) for tensor in checked])
        _reduce_all(joined, op, engine, deadline)
        pieces = joined.split([tensor.numel() for tensor in checked])
        for tensor, piece in zip(checked, pieces, strict=True):
            tensor.detach().copy_(piece.view(tensor.shape))

    return made.run(call, act, async_op=async_op, result=checked, on=checked)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce `tensor` over all ranks into that of `dst`; the others keep their values.

    Args:
        tensor: this rank's values, of the same shape and dtype on every rank; overwritten on `dst`.
        dst: the rank in the default group of who gets; or give `group_dst`, not both (default:
            None).
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_dst: the same by its number within the group (default: None).

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0])
    >>> dist.reduce(x, dst=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    made = the_group(group, "reduce")
    if made is None:
        return None
    root = peer_of(made, dst, group_dst, ("dst", "group_dst"))
    op = check_op(op, tensor, made)
    outputs_apart([tensor], "tensor")
    call = Call("reduce", f"reduce({op.name}, dst={made._ranks[root]}, {describe(tensor)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        whole = Flat(tensor)
        mine = engine.rank == root
        values = whole.values if mine or op.op is not RedOpType.PREMUL_SUM else whole.values.clone()
        _before(values, op)
        engine.reduce(values, root, op, deadline)
        if mine:
            _after(values, op, engine.size)
            whole.back()

    return made.run(call, act, async_op=async_op, result=[tensor], on=[tensor])


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce each tensor of `input_list` over all ranks; rank i gets number i in `output`.
    Same shape everywhere.

    Args:
        output: where this rank's result is written.
        input_list: a tensor for each rank, with as many values as `output` and its dtype; they stay
            as they are.
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.zeros(2)
    >>> dist.reduce_scatter(x, [taeda.tensor([1.0, 2.0])])
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "reduce_scatter")
    check_tensor(output, "output")
    if made is None:
        return None
    inputs = check_tensors(input_list, "input_list", made.size())
    for i, source in enumerate(inputs):
        same_kind([source], output, "input_list")
        fits(source, output, f"input_list[{i}]")
    op = check_op(op, output, made)
    outputs_apart([output], "output")
    call = Call("reduce_scatter", f"reduce_scatter({op.name}, {describe(output)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        _reduce_scatter(
            output, taeda.cat([flat(source) for source in inputs]), op, engine, deadline
        )

    return made.run(call, act, async_op=async_op, result=[output], on=[output, *inputs])


def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: ReduceOp = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce `input` over all ranks; rank i gets part i of it, in the order of memory, in `output`.

    Args:
        output: where this rank's part is written.
        input: its number of values is that of `output` times the ranks; its dtype the same. It
            stays as it is.
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.zeros(2)
    >>> dist.reduce_scatter_tensor(x, taeda.tensor([1.0, 2.0]))
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "reduce_scatter_tensor")
    check_tensor(output, "output")
    check_tensor(input, "input")
    if made is None:
        return None
    same_kind([input], output, "input")
    joins(input, output, made.size(), "input", "output")
    op = check_op(op, output, made)
    outputs_apart([output], "output")
    call = Call("reduce_scatter_tensor", f"reduce_scatter_tensor({op.name}, {describe(output)})")
    values = flat(input)
    copied = op.op is RedOpType.PREMUL_SUM
    call.payload = None if copied else (values, None)

    def act(engine: Engine, deadline: Deadline) -> None:
        mine = values.clone() if copied else values
        _reduce_scatter(output, mine, op, engine, deadline)

    return made.run(call, act, async_op=async_op, result=[output], on=[output, input])


def _reduce_scatter(
    output: Tensor, values: Tensor, op: ReduceOp, engine: Engine, deadline: Deadline
) -> None:
    _before(values, op)
    whole = Flat(output)
    engine.reduce_scatter(whole.values, values, op, deadline)
    _after(whole.values, op, engine.size)
    whole.back()
