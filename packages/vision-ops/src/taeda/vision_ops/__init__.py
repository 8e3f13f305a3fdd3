"""Operators on boxes and regions of pictures, under the names by which torchvision calls them; pictures
from files, by Pillow, under `taeda.ops.image`.

Importing it defines `taeda.ops.torchvision.nms` and the others; `install_as_torch()` and an import of
torchvision do so by themselves.

>>> import taeda
>>> boxes = taeda.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]])
>>> taeda.ops.torchvision.nms(boxes, taeda.tensor([0.5, 0.9, 0.1]), 0.5)
tensor([1, 2])
"""

from __future__ import annotations

from typing import Any as _Any

import taeda as _taeda
from taeda import library as _library

from . import _boxes, _deform, _gradients, _pictures, _regions

__all__ = ["deform_conv2d", "nms", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"]

_lib = _library.Library("torchvision", "FRAGMENT")
for _schema, _function in {**_boxes.OPERATORS, **_regions.OPERATORS, **_deform.OPERATORS}.items():
    _lib.define(_schema)
    _lib.impl(_schema.partition("(")[0], _function, "CPU")
# quantized pictures, which do not exist: defined, because torchvision gives them shapes; without a kernel
_lib.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
_lib.define(
    "qroi_align(Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor"
)
_lib.define("_cuda_version() -> int")
_lib.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")  # compiled for no card
_gradients.register()
_images = _library.Library("image", "FRAGMENT")
for _schema, _function in _pictures.OPERATORS.items():
    _images.define(_schema)
    _images.impl(_schema.partition("(")[0], _function, "CompositeExplicitAutograd")
for _name in ("nms", "roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool", "deform_conv2d"):
    _library.register_autocast(f"torchvision::{_name}", "cpu", _taeda.float32)

_defined: _Any = _taeda.ops.torchvision  # its names are those of the schemas above
nms = _defined.nms
roi_align, roi_pool = _defined.roi_align, _defined.roi_pool
ps_roi_align, ps_roi_pool = _defined.ps_roi_align, _defined.ps_roi_pool
deform_conv2d = _defined.deform_conv2d
for _function in (
    _boxes.nms, _regions.roi_align, _regions.roi_pool, _regions.ps_roi_align, _regions.ps_roi_pool,
    _deform.deform_conv2d,
):  # fmt: skip
    getattr(_defined, _function.__name__).__doc__ = _function.__doc__
