"""What autograd does beside numbers: second gradients, inference, mixed precision, what is not needed."""

import pytest

import taeda
from taeda import vision_ops

ROIS = taeda.tensor([[0.0, 1, 1, 5, 5]])


def test_gradients_of_gradients_are_refused():
    x = taeda.ones(1, 4, 6, 6, requires_grad=True)
    y = vision_ops.roi_align(x, ROIS, 1.0, 2, 2, 2, True)
    (first,) = taeda.autograd.grad(y.square().sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="gradients of gradients are not computed"):
        first.sum().backward()


def test_places_of_the_largest_need_no_gradient():
    x = taeda.ones(1, 4, 6, 6, requires_grad=True)
    values, places = vision_ops.roi_pool(x, ROIS, 1.0, 2, 2)
    assert values.requires_grad
    assert not places.requires_grad


def test_without_gradients_nothing_is_recorded():
    x = taeda.ones(1, 4, 6, 6, requires_grad=True)
    with taeda.no_grad():
        assert not vision_ops.roi_align(x, ROIS, 1.0, 2, 2, 2, True).requires_grad


def test_mixed_precision_computes_in_float32():
    pytest.importorskip("taeda.amp", reason="mixed precision is a package of its own")
    x = taeda.ones(1, 4, 6, 6, dtype=taeda.bfloat16)
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        made = vision_ops.roi_align(x, ROIS, 1.0, 2, 2, 2, True)
    assert made.dtype is taeda.float32


def test_quantized_pictures_and_other_devices_have_no_kernel():
    with pytest.raises(NotImplementedError):
        taeda.ops.torchvision.qnms(taeda.ones(1, 4), taeda.ones(1), 0.5)
    assert taeda.ops.torchvision._cuda_version() == -1
