"""Which boxes stay where several name one thing."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ._checks import computed, same_dtype
from ._kernels import call

__all__ = ["OPERATORS", "nms"]


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The numbers of boxes that overlap no better one, by falling score, as int64.

    RuntimeError for shapes and dtypes that do not fit.

    Args:
        dets: [N, 4] of a floating-point dtype, x1, y1, x2, y2 with x1 <= x2, y1 <= y2
        scores: [N], of that dtype
        iou_threshold: a box goes whose common area with one that stays is a larger part of their
            union than this

    >>> boxes = taeda.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]])
    >>> nms(boxes, taeda.tensor([0.5, 0.9, 0.1]), 0.5)
    tensor([1, 2])
    """
    same_dtype("nms", dets=dets, scores=scores)
    if dets.ndim != 2 or dets.shape[1] != 4:
        raise RuntimeError(f"nms: boxes have the shape [N, 4], got {list(dets.shape)}")
    if scores.ndim != 1 or len(scores) != len(dets):
        raise RuntimeError(
            f"nms: there is a score for each of {len(dets)} boxes, got {list(scores.shape)}"
        )
    boxes = computed(dets, "dets")
    order = scores.argsort(descending=True, stable=True)
    kept = taeda.empty(len(boxes), dtype=taeda.int64)
    gone = taeda.zeros(len(boxes), dtype=taeda.uint8)
    count = call("nms", boxes.dtype, boxes, order, len(boxes), float(iou_threshold), gone, kept)
    return kept[:count].clone()


OPERATORS: dict[str, Any] = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms,
}
