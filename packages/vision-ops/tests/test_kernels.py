"""The compiled kernels are called as they are declared."""

import ctypes

import taeda
from taeda.vision_ops._kernels import Bins, Window, call


def test_structures_have_the_sizes_of_c():
    assert ctypes.sizeof(Bins) == 10 * 8
    assert ctypes.sizeof(Window) == 15 * 8


def test_kernel_of_each_dtype_is_found():
    for dtype in (taeda.float32, taeda.float64):
        boxes = taeda.tensor([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=dtype)
        order, kept = taeda.tensor([1, 0]), taeda.zeros(2, dtype=taeda.int64)
        gone = taeda.zeros(2, dtype=taeda.uint8)
        assert call("nms", dtype, boxes, order, 2, 0.5, gone, kept) == 1
        assert kept[0].item() == 1
