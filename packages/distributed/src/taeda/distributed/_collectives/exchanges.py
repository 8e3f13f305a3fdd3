"""Collectives that exchange: every rank gives each other one a part of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor

from .._calls import Call
from .._engines.base import Engine
from .._groups.checks import (
    Flat,
    check_tensor,
    check_tensors,
    flat,
    outputs_apart,
    same_kind,
)
from .._groups.work import Work
from .._groups.world import the_group
from .._waiting import Deadline

__all__ = ["all_to_all", "all_to_all_single"]


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
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
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Split `input` along dimension 0, part j for rank j, and join what comes in `output`.
    Equal parts by default.

    Args:
        output: where what comes is written; of the dtype of `input`.
        input: what is sent; it stays as it is.
        output_split_sizes: rows of `output` from each rank, which add up to its dimension 0; None
            makes equal parts, ValueError where that is no multiple of the ranks.
        input_split_sizes: rows of `input` for each rank; the same rules (default: None).
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
