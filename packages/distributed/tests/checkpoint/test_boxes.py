"""Boxes: what two have in common, and which do not fill a whole."""

from __future__ import annotations

import pytest

import taeda
from taeda.distributed.checkpoint import ChunkStorageMetadata
from taeda.distributed.checkpoint._boxes import common, fault_of, whole


def box(*spans):
    return ChunkStorageMetadata(
        taeda.Size([begin for begin, _ in spans]), taeda.Size([size for _, size in spans])
    )


def test_common_agrees_with_sets_of_elements():
    spans = [(begin, size) for begin in range(4) for size in range(4)]
    for one in spans:
        for other in spans:
            both = set(range(one[0], sum(one))) & set(range(other[0], sum(other)))
            found = common(box(one, (0, 2)), box(other, (1, 2)))
            assert found == (([min(both), 1], [len(both), 1]) if both else None)


@pytest.mark.parametrize(
    ("boxes", "word"),
    [
        ([box((0, 2), (0, 3))], "6 of 12"),
        ([], "0 of 12"),
        ([box((0, 3), (0, 3)), box((2, 2), (0, 3))], "overlap"),
        ([box((0, 4), (0, 2)), box((0, 4), (1, 2))], "overlap"),
        ([box((1, 4), (0, 3))], "outside"),
        ([box((0, 12))], "dimensions"),
    ],
)
def test_boxes_that_do_not_fill_a_tensor_are_told(boxes, word):
    assert word in fault_of((4, 3), boxes)


def test_boxes_that_fill_a_tensor():
    assert fault_of((4, 3), [whole((4, 3))]) is None
    assert fault_of((4, 3), [box((2, 2), (0, 3)), box((0, 2), (0, 1)), box((0, 2), (1, 2))]) is None
    assert fault_of((), [whole(())]) is None
    assert fault_of((0, 3), [whole((0, 3))]) is None
