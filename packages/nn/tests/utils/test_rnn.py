"""Packed and padded sequences."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn.utils import rnn

SEQUENCES = [taeda.arange(3.0), taeda.arange(1.0) + 10, taeda.arange(2.0) + 20]


def test_pad_sequence():
    padded = rnn.pad_sequence(SEQUENCES, batch_first=True, padding_value=-1)
    assert padded.tolist() == [[0, 1, 2], [10, -1, -1], [20, 21, -1]]
    left = rnn.pad_sequence(SEQUENCES, padding_side="left")
    assert left.tolist() == [[0, 0, 0], [1, 0, 20], [2, 10, 21]]
    lengths = taeda.tensor([3, 1, 2])
    back = rnn.unpad_sequence(padded, lengths, batch_first=True)
    assert [s.tolist() for s in back] == [s.tolist() for s in SEQUENCES]


def test_pack_and_unpack():
    packed = rnn.pack_sequence(SEQUENCES, enforce_sorted=False)
    assert packed.data.tolist() == [0, 20, 10, 1, 21, 2]
    assert packed.batch_sizes.tolist() == [3, 2, 1]
    assert packed.sorted_indices.tolist() == [0, 2, 1]
    assert packed.unsorted_indices.tolist() == [0, 2, 1]
    padded, lengths = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=9)
    assert padded.tolist() == [[0, 1, 2], [10, 9, 9], [20, 21, 9]]
    assert lengths.tolist() == [3, 1, 2]
    assert [s.tolist() for s in rnn.unpack_sequence(packed)] == [s.tolist() for s in SEQUENCES]
    longer, _ = rnn.pad_packed_sequence(packed, total_length=5)
    assert longer.shape == (5, 3)


def test_packed_sequences_are_tuples_that_move():
    packed = rnn.pack_sequence(SEQUENCES, enforce_sorted=False)
    assert len(packed) == 4
    assert packed.count(None) == 0
    assert packed.index(packed[0]) == 0
    assert packed.to(taeda.float32) is packed
    assert packed.double().data.dtype is taeda.float64
    assert not packed.is_cuda
    if taeda.accelerator.is_available():
        assert packed.pin_memory().is_pinned() and packed.pin_memory().pin_memory().is_pinned()
    else:
        with pytest.raises(RuntimeError):
            packed.pin_memory()
    assert rnn.PackedSequence(packed.data, packed.batch_sizes).unsorted_indices is None


def test_lengths_of_any_kind():
    x = taeda.rand(3, 2, 4)
    for lengths in (
        [3, 1],
        taeda.tensor([3, 1]),
        taeda.tensor([3.0, 1.0]),
        taeda.tensor([3, 1]).int(),
    ):
        assert rnn.pack_padded_sequence(x, lengths).batch_sizes.tolist() == [2, 1, 1]


X = taeda.ones(3, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: rnn.pack_padded_sequence(X, [3, 0]), RuntimeError, r"greater than 0.*\[3, 0\]"),
        (lambda: rnn.pack_padded_sequence(X, [1, 3]), RuntimeError, "decreasing order"),
        (lambda: rnn.pack_padded_sequence(X, [3]), RuntimeError, r"but got 1 \(batch_size=2\)"),
        (lambda: rnn.pack_padded_sequence(X, [4, 1]), RuntimeError, "at most 3.*but got 4"),
        (lambda: rnn.pack_padded_sequence(X[:0], [1, 1]), RuntimeError, "Cannot pack empty"),
        (
            lambda: rnn.pad_packed_sequence(rnn.pack_sequence([X]), total_length=2),
            ValueError,
            "total_length=2",
        ),
        (lambda: rnn.pad_sequence([]), RuntimeError, "empty list"),
        (lambda: rnn.pad_sequence(3), RuntimeError, "Expected iterable"),
        (
            lambda: rnn.pad_sequence([X], padding_side="up"),
            RuntimeError,
            "left or right, but got up",
        ),
        (lambda: rnn.pad_sequence([X, X[:, :1]]), RuntimeError, "all dimensions but the first"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
