"""Which boxes stay, beside the definition."""

import numpy as np
import pytest

import taeda
from taeda import vision_ops


def stay(boxes, scores, threshold):
    """The best box stays, those that overlap it go, and so on."""
    left, kept = list(np.argsort(-scores, kind="stable")), []
    while left:
        best = left.pop(0)
        kept.append(int(best))
        left = [i for i in left if not overlap(boxes[best], boxes[i]) > threshold]
    return kept


def overlap(a, b):
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = np.prod(np.maximum(sides, 0))
    return common / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - common)


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.7, 1.0])
def test_random_boxes(dtype, threshold):
    draw = np.random.default_rng(3)
    corners = draw.uniform(0, 10, (60, 2))
    boxes = np.concatenate([corners, corners + draw.uniform(0.5, 6, (60, 2))], 1)
    scores = draw.integers(0, 20, 60) / 20  # some are equal: the first of them is better
    found = vision_ops.nms(
        taeda.tensor(boxes, dtype=dtype), taeda.tensor(scores, dtype=dtype), threshold
    )
    assert found.dtype is taeda.int64
    assert found.tolist() == stay(boxes, scores, threshold)


def test_nothing_and_one():
    assert vision_ops.nms(taeda.zeros(0, 4), taeda.zeros(0), 0.5).tolist() == []
    assert vision_ops.nms(taeda.ones(1, 4), taeda.ones(1), 0.5).tolist() == [0]


def test_short_floats():
    boxes = taeda.tensor([[0, 0, 2, 2], [0, 0, 2, 2], [4, 4, 5, 5]], dtype=taeda.float16)
    assert vision_ops.nms(boxes, taeda.tensor([0.5, 1, 0], dtype=taeda.float16), 0.5).tolist() == [
        1,
        2,
    ]


@pytest.mark.parametrize(
    ("boxes", "scores", "error", "text"),
    [
        (taeda.ones(2, 5), taeda.ones(2), RuntimeError, r"shape \[N, 4\], got \[2, 5\]"),
        (taeda.ones(2, 4), taeda.ones(3), RuntimeError, r"score for each of 2 boxes, got \[3\]"),
        (taeda.ones(2, 4), taeda.ones(2).double(), RuntimeError, "one dtype"),
        (taeda.ones(2, 4).int(), taeda.ones(2).int(), TypeError, "floating-point"),
    ],
)
def test_what_does_not_fit_is_refused(boxes, scores, error, text):
    with pytest.raises(error, match=text):
        vision_ops.nms(boxes, scores, 0.5)
