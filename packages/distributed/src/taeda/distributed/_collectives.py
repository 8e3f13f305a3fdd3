"""Collectives on tensors. Every process of the group must call the same one, in the same order.

Each returns None when its outputs are there, or with `async_op` a Work at once. In a process that
is not in the group nothing happens. What differs between ranks (name, dtype, shape, root,
reduction) raises DistMismatchError on all of them before anything is moved; a rank that is missing
raises DistPeerDiedError or DistTimeoutError on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import taeda
from taeda import Tensor

from ._calls import Call
from ._engines.base import Engine
from ._errors import DistTimeoutError
from ._groups.checks import (
    Flat,
    check_op,
    check_tensor,
    check_tensors,
    describe,
    fits,
    flat,
    joins,
    list_at_root,
    outputs_apart,
    peer_of,
    same_kind,
)
from ._groups.group import also_method
from ._groups.work import Work
from ._groups.world import the_group
from ._stores.base import seconds_of
from ._sums.kernels import divide
from ._types import RedOpType, ReduceOp
from ._waiting import Deadline

__all__ = [
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]

Group = Any  # a ProcessGroup, None for the default one, or GroupMember.NON_GROUP_MEMBER


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
def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give `tensor` of the rank `src` to all: same shape and dtype everywhere.

    Args:
        tensor: on `src` what is sent, elsewhere where it is written.
        src: the rank in the default group of who gives; or give `group_src`, not both.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_src: the same by its number within the group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.tensor([1.0, 2.0])
    >>> dist.broadcast(x, src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    made = the_group(group, "broadcast")
    if made is None:
        return None
    root = peer_of(made, src, group_src, ("src", "group_src"))
    outputs_apart([tensor], "tensor")
    call = Call("broadcast", f"broadcast(src={made._ranks[root]}, {describe(tensor)})")
    whole = Flat(tensor)
    call.payload = whole.values, None

    def act(engine: Engine, deadline: Deadline) -> None:
        engine.broadcast(whole.values, root, deadline)
        if engine.rank != root:
            whole.back()

    return made.run(call, act, async_op=async_op, result=[tensor], on=[tensor])


@also_method
def all_reduce(
    tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None, async_op: bool = False
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
    group: Group = None,
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
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce `tensor` over all ranks into that of `dst`; the others keep their values.

    Args:
        tensor: this rank's values, of the same shape and dtype on every rank; overwritten on `dst`.
        dst: the rank in the default group of who gets; or give `group_dst`, not both.
        op: one of `ReduceOp`'s, SUM by default; TypeError or ValueError where it does not fit the
            dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_dst: the same by its number within the group.

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


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Every rank's `tensor`, in the order of ranks, into `tensor_list`. Shapes may differ between ranks.

    Args:
        tensor_list: a tensor for each rank of the group, of that rank's shape; all of the dtype of
            `tensor`.
        tensor: what this rank gives; it stays as it is.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> parts = [taeda.zeros(2) for _ in range(dist.get_world_size())]
    >>> dist.all_gather(parts, taeda.tensor([1.0, 2.0]))
    >>> parts
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_gather")
    check_tensor(tensor, "tensor")
    if made is None:
        return None
    outputs = check_tensors(tensor_list, "tensor_list", made.size())
    same_kind(outputs, tensor, "tensor_list")
    fits(outputs[made.rank()], tensor, f"tensor_list[{made.rank()}]")
    outputs_apart(outputs, "tensor_list")
    call = Call("all_gather", f"all_gather({describe(outputs)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        wholes = [Flat(output) for output in outputs]
        engine.all_gather([whole.values for whole in wholes], flat(tensor), deadline)
        for whole in wholes:
            whole.back()

    return made.run(call, act, async_op=async_op, result=outputs, on=[*outputs, tensor])


def all_gather_coalesced(
    output_tensor_lists: Sequence[list[Tensor]],
    input_tensor_list: Sequence[Tensor],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """`all_gather` of several tensors: `output_tensor_lists[r][i]` gets tensor i of rank r.

    Args:
        output_tensor_lists: a list for each rank, of as many tensors as `input_tensor_list`, of the
            same shapes.
        input_tensor_list: what this rank gives; they stay as they are.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> got = [[taeda.zeros(2), taeda.zeros(1)] for _ in range(dist.get_world_size())]
    >>> dist.all_gather_coalesced(got, [taeda.tensor([1.0, 2.0]), taeda.tensor([3.0])])
    >>> got
    [[tensor([1., 2.]), tensor([3.])]]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_gather_coalesced")
    if made is None:
        return None
    inputs = check_tensors(input_tensor_list, "input_tensor_list")
    if len(output_tensor_lists) != made.size():
        raise ValueError(f"output_tensor_lists needs a list for each of {made.size()} ranks")
    lists = [
        check_tensors(part, "output_tensor_lists", len(inputs)) for part in output_tensor_lists
    ]
    outputs = [tensor for part in lists for tensor in part]
    outputs_apart(outputs, "output_tensor_lists")
    for part in lists:
        for output, tensor in zip(part, inputs, strict=True):
            same_kind([output], tensor, "output_tensor_lists")
            fits(output, tensor, "output_tensor_lists")
    call = Call("all_gather_coalesced", f"all_gather_coalesced({describe(inputs)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        joined = taeda.cat([flat(tensor) for tensor in inputs])
        everything = [taeda.empty_like(joined) for _ in range(engine.size)]
        engine.all_gather(everything, joined, deadline)
        for part, values in zip(lists, everything, strict=True):
            for output, piece in zip(part, values.split([t.numel() for t in inputs]), strict=True):
                output.detach().copy_(piece.view(output.shape))

    return made.run(call, act, async_op=async_op, result=outputs, on=[*outputs, *inputs])


def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Group = None, async_op: bool = False
) -> Work | None:
    """Every rank's `input_tensor`, one after the other or stacked, in `output_tensor`.

    Args:
        output_tensor: its number of values is that of all ranks together; its dtype that of
            `input_tensor`.
        input_tensor: what this rank gives, of the same shape on every rank.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> whole = taeda.zeros(2 * dist.get_world_size())
    >>> dist.all_gather_into_tensor(whole, taeda.tensor([1.0, 2.0]))
    >>> whole
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_gather_into_tensor")
    check_tensor(output_tensor, "output_tensor")
    check_tensor(input_tensor, "input_tensor")
    if made is None:
        return None
    same_kind([output_tensor], input_tensor, "output_tensor")
    joins(output_tensor, input_tensor, made.size(), "output_tensor", "input_tensor")
    outputs_apart([output_tensor], "output_tensor")
    call = Call("all_gather_into_tensor", f"all_gather_into_tensor({describe(input_tensor)})")
    values = flat(input_tensor)
    call.payload = values, None

    def act(engine: Engine, deadline: Deadline) -> None:
        whole = Flat(output_tensor)
        mine = values if call.brought else values.clone()  # it may be a part of the output
        engine.all_gather_flat(whole.values, mine, deadline)
        whole.back()

    return made.run(
        call, act, async_op=async_op, result=[output_tensor], on=[output_tensor, input_tensor]
    )


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Every rank's `tensor` into `gather_list` of the rank `dst` (0 by default). Same shape everywhere.

    Args:
        tensor: what this rank gives; it stays as it is.
        gather_list: on `dst` a tensor for each rank, with as many values as `tensor` and its dtype;
            elsewhere None.
        dst: the rank in the default group of who gets, number 0 of the group by default; or give
            `group_dst`, not both.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_dst: the same by its number within the group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> parts = [taeda.zeros(2)]
    >>> dist.gather(taeda.tensor([1.0, 2.0]), parts, dst=0)
    >>> parts
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "gather")
    check_tensor(tensor, "tensor")
    if made is None:
        return None
    root = (
        0
        if dst is None and group_dst is None
        else peer_of(made, dst, group_dst, ("dst", "group_dst"))
    )
    outputs = list_at_root(gather_list, made.rank() == root, made.size(), "gather_list", "dst")
    for i, output in enumerate(outputs):
        same_kind([output], tensor, "gather_list")
        fits(output, tensor, f"gather_list[{i}]")
    outputs_apart(outputs, "gather_list")
    call = Call("gather", f"gather(dst={made._ranks[root]}, {describe(tensor)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        wholes = [Flat(output) for output in outputs]
        engine.gather([whole.values for whole in wholes], flat(tensor), root, deadline)
        for whole in wholes:
            whole.back()

    return made.run(call, act, async_op=async_op, result=outputs, on=[tensor, *outputs])


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Group = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank its tensor of `scatter_list` of the rank `src` (0 by default). Same shape everywhere.

    Args:
        tensor: where this rank's part is written.
        scatter_list: on `src` a tensor for each rank, with as many values as `tensor` and its
            dtype; elsewhere None.
        src: the rank in the default group of who gives, number 0 of the group by default; or give
            `group_src`, not both.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_src: the same by its number within the group.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.zeros(2)
    >>> dist.scatter(x, [taeda.tensor([1.0, 2.0])], src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "scatter")
    check_tensor(tensor, "tensor")
    if made is None:
        return None
    root = (
        0
        if src is None and group_src is None
        else peer_of(made, src, group_src, ("src", "group_src"))
    )
    inputs = list_at_root(scatter_list, made.rank() == root, made.size(), "scatter_list", "src")
    for i, source in enumerate(inputs):
        same_kind([source], tensor, "scatter_list")
        fits(source, tensor, f"scatter_list[{i}]")
    outputs_apart([tensor], "tensor")
    call = Call("scatter", f"scatter(src={made._ranks[root]}, {describe(tensor)})")

    def act(engine: Engine, deadline: Deadline) -> None:
        whole = Flat(tensor)
        engine.scatter(whole.values, [flat(source) for source in inputs], root, deadline)
        whole.back()

    return made.run(call, act, async_op=async_op, result=[tensor], on=[tensor, *inputs])


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: ReduceOp = ReduceOp.SUM,
    group: Group = None,
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
    group: Group = None,
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


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Rank i's `input_tensor_list[j]` becomes rank j's `output_tensor_list[i]`. Shapes may differ.

    Args:
        output_tensor_list: where the tensors of all ranks are written, one for each, of the shapes
            that they send.
        input_tensor_list: what each rank gets, one tensor for each, of one dtype.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> parts = [taeda.zeros(2)]
    >>> dist.all_to_all(parts, [taeda.tensor([1.0, 2.0])])
    >>> parts
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_to_all")
    if made is None:
        return None
    outputs = check_tensors(output_tensor_list, "output_tensor_list", made.size())
    inputs = check_tensors(input_tensor_list, "input_tensor_list", made.size())
    same_kind(outputs, inputs[0], "output_tensor_list")
    outputs_apart(outputs, "output_tensor_list")
    call = _pairwise_call("all_to_all", outputs, inputs)

    def act(engine: Engine, deadline: Deadline) -> None:
        wholes = [Flat(output) for output in outputs]
        engine.all_to_all([w.values for w in wholes], [flat(source) for source in inputs], deadline)
        for whole in wholes:
            whole.back()

    return made.run(call, act, async_op=async_op, result=outputs, on=[*outputs, *inputs])


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Group = None,
    async_op: bool = False,
) -> Work | None:
    """Split `input` along dimension 0, part j for rank j, and join what comes in `output`.
    Equal parts by default.

    Args:
        output: where what comes is written; of the dtype of `input`.
        input: what is sent; it stays as it is.
        output_split_sizes: rows of `output` from each rank, which add up to its dimension 0; None
            makes equal parts, ValueError where that is no multiple of the ranks.
        input_split_sizes: rows of `input` for each rank; the same rules.
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = taeda.zeros(2)
    >>> dist.all_to_all_single(x, taeda.tensor([1.0, 2.0]))
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "all_to_all_single")
    check_tensor(output, "output")
    check_tensor(input, "input")
    if made is None:
        return None
    same_kind([output], input, "output")
    outputs_apart([output], "output")
    wholes = Flat(output)
    into = _parts(wholes.values, output, output_split_sizes, made.size(), "output")
    values = flat(input)
    source = _parts(values, input, input_split_sizes, made.size(), "input")
    call = _pairwise_call("all_to_all_single", into, source)
    call.payload = values, None

    def act(engine: Engine, deadline: Deadline) -> None:
        engine.all_to_all(into, source, deadline)
        wholes.back()

    return made.run(call, act, async_op=async_op, result=[output], on=[output, input])


def _parts(
    values: Tensor, tensor: Tensor, sizes: list[int] | None, ranks: int, what: str
) -> list[Tensor]:
    """The parts of the flat `values` for each rank, by rows of `tensor`."""
    rows = tensor.shape[0] if tensor.dim() else 0
    if not sizes:
        if rows % ranks:
            raise ValueError(
                f"dimension 0 of {what}, {rows}, is not a multiple of the {ranks} ranks; give "
                f"{what}_split_sizes"
            )
        sizes = [rows // ranks] * ranks
    if len(sizes) != ranks or sum(sizes) != rows or min(sizes) < 0:
        raise ValueError(f"{what}_split_sizes {sizes} do not split {rows} rows for {ranks} ranks")
    each = tensor.numel() // rows if rows else 0
    return list(values.split([size * each for size in sizes]))


def _pairwise_call(name: str, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> Call:
    """What a rank sends to another is what that one expects of it: counts, compared once all have come."""
    dtype = str(outputs[0].dtype).rpartition(".")[2]
    counts = (",".join(str(t.numel()) for t in tensors) for tensors in (inputs, outputs))
    return Call(name, f"{name}({dtype})", "sends {} and expects {}".format(*counts), _odd_pair)


def _odd_pair(details: list[str]) -> tuple[int, int, str] | None:
    """A rank that sends another count than its peer expects, the peer, and the words between; None
    if all pairs agree.
    """
    words = [detail.split() for detail in details]
    sent = [[int(n) for n in word[1].split(",")] for word in words]
    expected = [[int(n) for n in word[4].split(",")] for word in words]
    for rank, counts in enumerate(sent):
        for peer, count in enumerate(counts):
            if count != expected[peer][rank]:
                return rank, peer, f"sends {count} values, and {{}} expects {expected[peer][rank]}"
    return None


@also_method
def barrier(
    group: Group = None,
    async_op: bool = False,
    device_ids: list[int] | None = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Return when every rank has come here.

    Args:
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        device_ids: a list of int, or None; nothing depends on it. TypeError for another type.
        timeout: how long to wait; None takes the group's.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.barrier()  # goes on when all ranks are here
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "barrier")
    if device_ids is not None and not isinstance(device_ids, list):
        raise TypeError(f"device_ids is a list of int, not {type(device_ids).__name__}")
    if made is None:
        return None
    if timeout is not None:
        seconds_of(timeout)
    call = Call("barrier", "barrier()")
    return made.run(
        call, lambda engine, limit: engine.barrier(limit), async_op=async_op, timeout=timeout
    )


def monitored_barrier(
    group: Group = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """As `barrier`, but the error names the rank that did not come, or with `wait_all_ranks` all of them.

    It fails on every rank that came. The group stays usable if the missing ones turn up.

    Args:
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        timeout: how long to wait; None takes the group's.
        wait_all_ranks: whether to wait for all before the error is raised; False by default.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> dist.monitored_barrier()
    >>> dist.destroy_process_group()
    """
    made = the_group(group, "monitored_barrier")
    if made is None:
        return
    limit = seconds_of(made.timeout if timeout is None else timeout)
    from ._groups.monitored import meet_by_store

    missing = meet_by_store(made, limit, wait_all_ranks)
    if missing:
        names = ", ".join(map(str, missing))
        raise DistTimeoutError(
            f"monitored_barrier: rank{'s' if len(missing) > 1 else ''} {names} did not come within "
            f"{limit:g} s",
            missing,
        )
