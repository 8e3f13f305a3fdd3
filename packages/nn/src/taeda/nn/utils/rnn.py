"""Sequences of different lengths: padded to one tensor, or packed step by step without the padding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import taeda
from taeda import Tensor
from taeda.utils.backend_registration import register_movable

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """The steps of a batch one after the other: `batch_sizes[t]` rows of `data` belong to step t.

    Sequences are sorted by falling length; `sorted_indices` gives the former place of each, and
    `unsorted_indices` undoes that. Made by `pack_padded_sequence` and `pack_sequence`. Raises ValueError if
    `batch_sizes` is not on the CPU.

    Args:
        data: the steps, (sum of lengths, *).
        batch_sizes: how many sequences each step has, falling: int64, (T), on the CPU (None: `data`
            is a pair with them).
        sorted_indices: former place of each sequence, int64, (N) (None: order is kept).
        unsorted_indices: what undoes that (None: computed).

    >>> packed = pack_sequence([taeda.tensor([1, 2]), taeda.tensor([3])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 3, 2]), tensor([2, 1]))
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            data, batch_sizes = data  # a pair stands for the first two
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created "
                f"manually. Got them on {batch_sizes.device}"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with `data` moved or cast; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kept = {k: v for k, v in kwargs.items() if k in ("non_blocking", "copy")}
        sorted_indices, unsorted_indices = (
            None if index is None else index.to(data.device, **kept)
            for index in (self.sorted_indices, self.unsorted_indices)
        )
        return type(self)(data, self.batch_sizes, sorted_indices, unsorted_indices)

    def is_pinned(self) -> bool:
        """Is `data` in pinned memory?"""
        return self.data.is_pinned()

    def pin_memory(self) -> PackedSequence:
        """The same with `data` in pinned memory, from which copies to a GPU need not wait.

        RuntimeError where there is no GPU.
        """
        if self.is_pinned():
            return self
        return type(self)(
            self.data.pin_memory(), self.batch_sizes, self.sorted_indices, self.unsorted_indices
        )

    @property
    def is_cuda(self) -> bool:
        """Is `data` on a GPU?"""
        return self.data.is_cuda

    def cpu(self) -> PackedSequence:
        """The same on the CPU."""
        return self.to("cpu")

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same on a GPU."""
        return self.to(*(args or ("cuda",)), **kwargs)

    def double(self) -> PackedSequence:
        """The same in float64."""
        return self.to(taeda.float64)

    def float(self) -> PackedSequence:
        """The same in float32."""
        return self.to(taeda.float32)

    def half(self) -> PackedSequence:
        """The same in float16."""
        return self.to(taeda.float16)

    def long(self) -> PackedSequence:
        """The same in int64."""
        return self.to(taeda.int64)

    def int(self) -> PackedSequence:
        """The same in int32."""
        return self.to(taeda.int32)

    def short(self) -> PackedSequence:
        """The same in int16."""
        return self.to(taeda.int16)

    def char(self) -> PackedSequence:
        """The same in int8."""
        return self.to(taeda.int8)

    def byte(self) -> PackedSequence:
        """The same in uint8."""
        return self.to(taeda.uint8)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one; None for None.

    Args:
        permutation: int64, 1-D, each number from 0 once; or None.

    >>> invert_permutation(taeda.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = taeda.arange(permutation.numel(), device=permutation.device, dtype=permutation.dtype)
    return taeda.empty_like(permutation).scatter_(0, permutation.long(), places)


# ---- pack ----


def _lengths_tensor(lengths: Any) -> Tensor:
    if not isinstance(lengths, Tensor):
        return taeda.tensor(list(lengths), dtype=taeda.int64)
    if lengths.device.type != "cpu":
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got "
            f"{lengths.dim()}D {lengths.device} {lengths.dtype} tensor"
        )
    return lengths.to(taeda.int64)


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Leave the padding out of (T, N, *), or (N, T, *) with `batch_first`.

    Lengths (N) fall, unless `enforce_sorted` is False: then they are sorted here. Raises RuntimeError for
    lengths that do not fit, are 0, or do not fall.

    Args:
        input: the padded batch, (T, N, *) or (N, T, *).
        lengths: length of each sequence, at least 1: a list or an int64 tensor (N) on the CPU.
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        enforce_sorted: whether lengths must fall (True).

    >>> pack_padded_sequence(taeda.zeros(3, 2, 4), [3, 1]).batch_sizes
    tensor([2, 1, 1])
    """
    lengths = _lengths_tensor(lengths)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = taeda.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = input.transpose(0, 1) if batch_first else input
    sizes = _check_lengths(steps, lengths)
    rows = [step[:size] for step, size in zip(steps, sizes, strict=False)]
    return PackedSequence(taeda.cat(rows), taeda.tensor(sizes), sorted_indices)


def _check_lengths(steps: Tensor, lengths: Tensor) -> list[int]:
    """How many sequences there are at each step."""
    if steps.dim() < 2 or steps.numel() == 0:
        raise RuntimeError(f"Cannot pack empty tensors: got shape {list(steps.shape)}")
    numbers = lengths.reshape(-1).tolist()
    if len(numbers) != steps.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(numbers)} "
            f"(batch_size={steps.size(1)})"
        )
    if min(numbers) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0: "
            f"{numbers}"
        )
    if any(a < b for a, b in pairwise(numbers)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True, "
            f"got {numbers}. "
            "Pass enforce_sorted=False to have them sorted."
        )
    if numbers[0] > steps.size(0):
        raise RuntimeError(
            f"Expected lengths of at most {steps.size(0)}, the size of the time dimension, but got "
            f"{numbers[0]}"
        )
    return [sum(n > t for n in numbers) for t in range(numbers[0])]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of (T_i, *); see `pack_padded_sequence` for their order.

    Args:
        sequences: tensors (T_i, *), T_i at least 1.
        enforce_sorted: whether lengths must fall (True).

    >>> pack_sequence([taeda.tensor([1, 2]), taeda.tensor([3])]).data
    tensor([1, 3, 2])
    """
    lengths = taeda.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


# ---- unpack ----


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """(T, N, *), or (N, T, *) with `batch_first`, and the lengths; sequences in their former order.

    `total_length` pads further. Raises ValueError if it is less than the longest length.

    Args:
        sequence: a packed batch.
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        padding_value: what fills up (0).
        total_length: the size T of the result, at least the longest length (None: that length).

    >>> pad_packed_sequence(pack_sequence([taeda.tensor([1, 2]), taeda.tensor([3])]))
    (tensor([[1, 3],
            [2, 0]]), tensor([2, 1]))
    """
    sizes = sequence.batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    batch = sizes[0] if sizes else 0
    lengths = taeda.tensor([sum(size > i for size in sizes) for i in range(batch)])
    steps = []
    for step in sequence.data.split(sizes):
        missing = batch - step.size(0)
        steps.append(_filled_up(step, missing, padding_value) if missing else step)
    padded = taeda.stack(steps)
    if longest > len(sizes):
        padded = _filled_up(padded, longest - len(sizes), padding_value)
    if batch_first:
        padded = padded.transpose(0, 1)
    index = sequence.unsorted_indices
    if index is not None:
        padded = padded.index_select(0 if batch_first else 1, index)
        lengths = lengths[index.cpu()]
    return padded, lengths


def _filled_up(rows: Tensor, count: int, value: float) -> Tensor:
    return taeda.cat([rows, rows.new_full((count, *rows.shape[1:]), value)])


def pad_sequence(
    sequences: Any,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """A list of (T_i, *) as one (T, N, *), or (N, T, *) with `batch_first`, filled up at one side.

    Raises RuntimeError for something that is no list of tensors, ValueError for another side.

    Args:
        sequences: tensors (T_i, *) whose other sizes are equal.
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        padding_value: what fills up (0).
        padding_side: "right" (default) or "left".

    >>> pad_sequence([taeda.tensor([1, 2]), taeda.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    sequences = tuple(sequences)
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    trailing = sequences[0].shape[1:]
    for sequence in sequences:
        if sequence.shape[1:] != trailing or sequence.dim() == 0:
            raise RuntimeError(
                "pad_sequence: sequences must agree in all dimensions but the first, got "
                f"{[list(s.shape) for s in sequences]}"
            )
    longest = max(sequence.size(0) for sequence in sequences)
    rows = []
    for sequence in sequences:
        fill = sequence.new_full((longest - sequence.size(0), *trailing), padding_value)
        rows.append(taeda.cat([sequence, fill] if padding_side == "right" else [fill, sequence]))
    return taeda.stack(rows, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of a padded batch, each of its own length.

    Args:
        padded_sequences: the padded batch, (T, N, *) or (N, T, *).
        lengths: length of each sequence, int64, (N).
        batch_first: whether the batch is dimension 0 instead of 1 (False).

    >>> unpad_sequence(taeda.tensor([[1, 2], [3, 0]]), taeda.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=False)]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch, in their former order.

    Args:
        packed_sequences: a packed batch.

    >>> unpack_sequence(pack_sequence([taeda.tensor([1, 2]), taeda.tensor([3])]))
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


register_movable("packed sequence", PackedSequence)
