"""Collectives that copy: from one rank to all, from all to one, from all to all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor

from .._calls import Call
from .._engines.base import Engine
from .._groups.checks import (
    Flat,
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
from .._groups.group import also_method
from .._groups.work import Work
from .._groups.world import the_group
from .._waiting import Deadline

__all__ = [
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "broadcast",
    "gather",
    "scatter",
]


@also_method
def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give `tensor` of the rank `src` to all: same shape and dtype everywhere.

    Args:
        tensor: on `src` what is sent, elsewhere where it is written.
        src: the rank in the default group of who gives; or give `group_src`, not both (default:
            None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_src: the same by its number within the group (default: None).

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


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
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
    group: Any = None,
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
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
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
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Every rank's `tensor` into `gather_list` of the rank `dst` (0 by default). Same shape everywhere.

    Args:
        tensor: what this rank gives; it stays as it is.
        gather_list: on `dst` a tensor for each rank, with as many values as `tensor` and its dtype;
            elsewhere None.
        dst: the rank in the default group of who gets, number 0 of the group by default; or
            give `group_dst`, not both (default: None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_dst: the same by its number within the group (default: None).

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
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Give each rank its tensor of `scatter_list` of the rank `src` (0 by default). Same shape everywhere.

    Args:
        tensor: where this rank's part is written.
        scatter_list: on `src` a tensor for each rank, with as many values as `tensor` and its
            dtype; elsewhere None.
        src: the rank in the default group of who gives, number 0 of the group by default; or
            give `group_src`, not both (default: None).
        group: the group that takes part; None is the default one. A process outside of it does
            nothing and gets None.
        async_op: True returns a `Work` to wait for at once; False, the default, returns when it is
            done.
        group_src: the same by its number within the group (default: None).

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
