"""What collectives accept: tensors on the processor, dense, of one dtype; outputs that do not share
memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import taeda
from taeda import Tensor

from .._types import RedOpType, ReduceOp, supports_complex
from .group import ProcessGroup

__all__ = [
    "Flat",
    "check_op",
    "check_tensor",
    "check_tensors",
    "describe",
    "fits",
    "flat",
    "joins",
    "list_at_root",
    "outputs_apart",
    "peer_of",
    "same_kind",
]

_SCALES = (RedOpType.AVG, RedOpType.PREMUL_SUM)
_UNSCALED = (taeda.uint16, taeda.uint32, taeda.uint64)
_BITS = (RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR)


def check_tensor(tensor: object, what: str) -> Tensor:
    """`tensor` itself. TypeError for no tensor, ValueError for a device or layout that no backend
    here carries.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{what} is a tensor, not {type(tensor).__name__}")
    if tensor.device.type not in ("cpu", "cuda"):  # which of the two, the group knows
        raise ValueError(
            f"{what} is on {tensor.device}, but backends carry tensors of the cpu or of cuda only"
        )
    if tensor.layout is not taeda.strided:
        raise ValueError(f"{what} is {tensor.layout}; collectives take dense tensors")
    if tensor.is_quantized:
        raise ValueError(
            f"{what} is quantized; collectives take its int_repr() or its dequantize()"
        )
    return tensor


def check_tensors(tensors: object, what: str, size: int | None = None) -> list[Tensor]:
    """A list of tensors of one dtype, `size` of them. TypeError, ValueError."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"{what} is a list of tensors, not {type(tensors).__name__}")
    if size is not None and len(tensors) != size:
        raise ValueError(
            f"{what} needs one tensor for each of the {size} ranks, and has {len(tensors)}"
        )
    checked = [check_tensor(tensor, f"{what}[{i}]") for i, tensor in enumerate(tensors)]
    kinds = {tensor.dtype for tensor in checked}
    if len(kinds) > 1:
        raise ValueError(
            f"the tensors of {what} have several dtypes: {', '.join(sorted(map(str, kinds)))}"
        )
    return checked


def check_op(op: object, tensor: Tensor, group: ProcessGroup | None = None) -> ReduceOp:
    """The reduction, if the dtype has it, and the group's engine. TypeError and ValueError say why not."""
    if isinstance(op, RedOpType):
        op = ReduceOp(op)
    if not isinstance(op, ReduceOp):
        raise TypeError(f"op is one of ReduceOp's, such as ReduceOp.SUM, not {op!r}")
    _check_meaning(op.op, tensor.dtype)
    if op.op in _SCALES and tensor.dtype in _UNSCALED and tensor.is_cpu:
        raise ValueError(f"{op.op.name} of {tensor.dtype} is not there on the processor; use SUM")
    if op.op is RedOpType.PREMUL_SUM and op.factor is None:
        raise ValueError("PREMUL_SUM needs its factor: ReduceOp.premul_sum(factor)")
    if group is not None:
        group.lane(tensor.device.type)._engine.check_reduction(op, tensor.dtype)
    return op


@lru_cache(maxsize=1000)  # of those that pass: small sums are made of little else than checks
def _check_meaning(kind: RedOpType, dtype: taeda.dtype) -> None:
    """ValueError if numbers of this dtype cannot be reduced so."""
    if dtype.is_complex and not supports_complex(ReduceOp(kind)):
        raise ValueError(f"{kind.name} has no meaning for {dtype}")
    if kind in _BITS and (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"{kind.name} works on the bits of integers, not on {dtype}")
    if dtype is taeda.bool and kind in _SCALES:
        raise ValueError(f"{kind.name} has no meaning for {dtype}")


def describe(tensors: Tensor | Sequence[Tensor]) -> str:
    """Dtype and shape, or shapes, as the other ranks compare them.

    >>> describe(taeda.zeros(2, 3))
    'float32 (2, 3)'
    """
    if isinstance(tensors, Tensor):
        return _described(tensors.dtype, tensors.shape)
    if not tensors:
        return "nothing"
    shapes = [str(tuple(tensor.shape)) for tensor in tensors]
    if len(set(shapes)) == 1:
        text = f"{len(shapes)} x {shapes[0]}"
    elif len(shapes) <= 16:
        text = ", ".join(shapes)
    else:
        digest = zlib.crc32(" ".join(shapes).encode())
        text = f"{', '.join(shapes[:16])}, ... ({len(shapes)} shapes, {digest:08x})"
    return f"{str(tensors[0].dtype).removeprefix('taeda.')} {text}"


@lru_cache(maxsize=1000)
def _described(dtype: taeda.dtype, shape: tuple[int, ...]) -> str:
    return f"{str(dtype).removeprefix('taeda.')} {tuple(shape)}"


class Flat:
    """A tensor as a flat, contiguous one of the same memory if it can be; `back()` writes a copy back."""

    __slots__ = ("_tensor", "values")

    def __init__(self, tensor: Tensor) -> None:
        plain = tensor.detach() if tensor.requires_grad else tensor
        self._tensor: Tensor | None = None
        if not plain.is_contiguous() or plain.is_conj() or plain.is_neg():
            self._tensor = plain
            plain = plain.resolve_conj().resolve_neg().contiguous()
        self.values = plain if plain.dim() == 1 else plain.view(-1)

    def back(self) -> None:
        if self._tensor is not None:
            self._tensor.copy_(self.values.view(self._tensor.shape))


def flat(tensor: Tensor) -> Tensor:
    """The values of an input, flat and contiguous."""
    return Flat(tensor).values


def _extent(tensor: Tensor) -> tuple[int, int]:
    """First and last byte + 1 that a tensor reaches."""
    if not tensor.numel():
        return 0, 0
    last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    start = tensor.data_ptr()
    return start, start + (last + 1) * tensor.element_size()


def outputs_apart(outputs: Sequence[Tensor], what: str) -> None:
    """ValueError if two outputs share memory, or one has the same place twice: the result would
    depend on the order.
    """
    if len(outputs) == 1 and outputs[0].is_contiguous():
        return
    for i, tensor in enumerate(outputs):
        if any(step == 0 and n > 1 for n, step in zip(tensor.shape, tensor.stride(), strict=True)):
            raise ValueError(
                f"{what}[{i}] is expanded: several of its elements are one place in memory"
            )
    extents = sorted(
        (*_extent(tensor), i) for i, tensor in enumerate(outputs) if tensor.is_contiguous()
    )
    for (_, end, i), (start, _, j) in pairwise(extents):
        if start < end:
            raise ValueError(f"{what}[{i}] and {what}[{j}] share memory: each needs its own")


def peer_of(
    group: ProcessGroup,
    rank: int | None,
    number: int | None,
    names: tuple[str, str],
    optional: bool = False,
) -> int:
    """The group's number of a peer given as rank of the default group or as the group's number; one
    of the two.

    -1 if neither is given and that is allowed.
    """
    if rank is not None and number is not None:
        raise ValueError(f"give {names[0]} or {names[1]}, not both")
    if number is not None:
        if not 0 <= number < group.size():
            raise ValueError(f"{names[1]} {number} is outside of a group of {group.size()}")
        return number
    if rank is None:
        if optional:
            return -1
        raise ValueError(
            f"give {names[0]}, a rank of the default group, or {names[1]}, a number of the group"
        )
    return group.number_of(rank, names[0])


def same_kind(outputs: Sequence[Tensor], tensor: Tensor, what: str) -> None:
    """ValueError if an output has another dtype than the tensor that goes there."""
    for output in outputs:
        if output.dtype != tensor.dtype:
            raise ValueError(f"{what} is {output.dtype}, but the other tensor is {tensor.dtype}")


def fits(output: Tensor, tensor: Tensor, what: str) -> None:
    """ValueError if the output has another number of values than the tensor that goes there."""
    if output.numel() != tensor.numel():
        raise ValueError(
            f"{what} has the shape {tuple(output.shape)}, but what goes there has {tuple(tensor.shape)}"
        )


def joins(whole: Tensor, part: Tensor, ranks: int, name: str, part_name: str) -> None:
    """ValueError if the parts of all ranks do not make the whole."""
    if whole.numel() != ranks * part.numel():
        raise ValueError(
            f"{name} has {whole.numel()} values; {ranks} ranks with {part.numel()} in {part_name} need "
            f"{ranks * part.numel()}"
        )


def list_at_root(
    tensors: list[Tensor] | None, is_root: bool, size: int, what: str, root: str
) -> list[Tensor]:
    """The checked list on the root, an empty one elsewhere. ValueError if it is given elsewhere."""
    if is_root:
        return check_tensors(tensors if tensors is not None else (), what, size)
    if tensors:
        raise ValueError(f"{what} is given on the rank {root} only")
    return []
