"""torchvision: models, detection, segmentation, video, transforms, data sets, pictures and operators."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import torch
import torchvision as tv
from PIL import Image
from torchvision import tv_tensors
from torchvision.models import detection, feature_extraction
from torchvision.transforms import v2

from .given import filled, normal, uniform, whole

PLAIN = {"weights": None, "num_classes": 3}
#: boxes with corners in order
BOXES = torch.tensor([[5.0, 5, 40, 50], [5, 5, 40, 49], [20, 10, 60, 58]])


def _model(name: str, size: int = 64, **options: Any) -> list[Any]:
    model = filled(tv.models.get_model(name, **PLAIN, **options)).eval()
    x = normal(2, 3, size, size).requires_grad_()
    out = model(x)
    out.square().mean().backward()
    assert x.grad.isfinite().all()
    return [out, x.grad]


def resnet18() -> Any:
    return _model("resnet18")


def resnext() -> Any:
    return _model("resnext50_32x4d")


def mobilenets() -> Any:
    return [_model("mobilenet_v2"), _model("mobilenet_v3_small")]


def shufflenet() -> Any:
    return _model("shufflenet_v2_x0_5")


def squeezenet() -> Any:
    return _model("squeezenet1_1")


def efficientnet() -> Any:
    return _model("efficientnet_b0")


def densenet() -> Any:
    return _model("densenet121")


def regnet() -> Any:
    return _model("regnet_y_400mf")


def mnasnet() -> Any:
    return _model("mnasnet0_5")


def convnext() -> Any:
    return _model("convnext_tiny")


def swin() -> Any:
    return _model("swin_t")


def vit() -> Any:
    return _model("vit_b_32", image_size=64)


def googlenet_and_inception() -> Any:
    return [_model("googlenet", init_weights=False, aux_logits=False)]


def vgg() -> Any:
    return _model("vgg11_bn", 32)


def segmentation() -> Any:
    options = {"weights": None, "weights_backbone": None, "num_classes": 3}
    model = filled(tv.models.segmentation.lraspp_mobilenet_v3_large(**options)).eval()
    return model(normal(1, 3, 64, 64))["out"]


def video() -> Any:
    model = filled(tv.models.video.r3d_18(**PLAIN)).eval()
    return model(normal(1, 3, 4, 32, 32))


def old_transforms() -> Any:
    t = tv.transforms
    picture = Image.fromarray(np.arange(40 * 50 * 3, dtype=np.uint8).reshape(40, 50, 3))
    drawn = t.Compose(
        [
            t.RandomResizedCrop(28),
            t.RandomHorizontalFlip(),
            t.ColorJitter(0.2, 0.2, 0.2, 0.1),
            t.RandomRotation(20),
            t.ToTensor(),
            t.RandomErasing(p=1.0),
        ]
    )(picture)
    assert drawn.shape == (3, 28, 28)
    fixed = t.Compose(
        [t.Resize(32), t.CenterCrop(28), t.ToTensor(), t.Normalize([0.5] * 3, [0.5] * 3)]
    )
    x = fixed(picture)
    f = tv.transforms.functional
    return [
        x,
        f.rotate(x, 20),
        f.affine(x, 10, [1, 2], 1.1, [5]),
        f.adjust_hue(x.clamp(0, 1), 0.2),
        f.gaussian_blur(x, [3, 3]),
        f.perspective(
            x, [[0, 0], [27, 0], [27, 27], [0, 27]], [[1, 1], [26, 0], [27, 26], [0, 27]]
        ),
    ]


def new_transforms() -> Any:
    picture = tv_tensors.Image(whole(256, 3, 40, 50).to(torch.uint8))
    boxes = tv_tensors.BoundingBoxes(BOXES[:2] / 2, format="XYXY", canvas_size=(40, 50))
    mask = tv_tensors.Mask(whole(2, 40, 50).to(torch.uint8))
    chain = v2.Compose(
        [
            v2.Resize((32, 32)),
            v2.RandomHorizontalFlip(1.0),
            v2.CenterCrop(28),
            v2.SanitizeBoundingBoxes(labels_getter=None),
            v2.ToDtype(torch.float32, scale=True),
        ]
    )
    out, moved, where = chain(picture, boxes, mask)
    assert type(out) is tv_tensors.Image and type(moved) is tv_tensors.BoundingBoxes
    assert type(where) is tv_tensors.Mask and where.shape == (28, 28)
    drawn = v2.Compose(
        [v2.RandAugment(), v2.AugMix(), v2.RandomZoomOut(), v2.RandomPhotometricDistort()]
    )
    assert drawn(picture).dtype == torch.uint8
    mixed, _ = v2.CutMix(num_classes=3)(normal(4, 3, 8, 8), torch.tensor([0, 1, 2, 0]))
    assert mixed.shape == (4, 3, 8, 8)
    return [torch.as_tensor(out), torch.as_tensor(moved)]


def data_sets() -> None:
    with tempfile.TemporaryDirectory() as folder:
        import pathlib

        for kind in ("a", "b"):
            (pathlib.Path(folder) / kind).mkdir()
            for number in range(3):
                Image.new("RGB", (8, 8), (number, 0, 0)).save(f"{folder}/{kind}/{number}.png")
        data = tv.datasets.ImageFolder(folder, tv.transforms.ToTensor())
        assert data.classes == ["a", "b"] and len(data) == 6
        x, y = next(iter(torch.utils.data.DataLoader(data, 6, num_workers=2)))
        assert x.shape == (6, 3, 8, 8) and y.tolist() == [0, 0, 0, 1, 1, 1]
    fake = tv.datasets.FakeData(4, (3, 8, 8), 10, transform=tv.transforms.ToTensor())
    assert next(iter(torch.utils.data.DataLoader(fake, 4)))[0].shape == (4, 3, 8, 8)


def grids_and_drawings() -> Any:
    x = uniform(4, 3, 64, 64)
    pixels = (x[0] * 255).to(torch.uint8)
    drawn = tv.utils.draw_bounding_boxes(pixels, BOXES, colors="red")
    masked = tv.utils.draw_segmentation_masks(pixels, whole(2, 64, 64).bool(), colors="blue")
    with tempfile.TemporaryDirectory() as folder:
        tv.utils.save_image(x, f"{folder}/a.png")
    return [tv.utils.make_grid(x), drawn.float(), masked.float()]


def pictures_are_read_and_written() -> None:
    pixels = whole(256, 3, 12, 10).to(torch.uint8)
    with tempfile.TemporaryDirectory() as folder:
        tv.io.write_png(pixels, f"{folder}/a.png")
        assert torch.equal(tv.io.read_image(f"{folder}/a.png"), pixels)
        tv.io.write_jpeg(pixels, f"{folder}/a.jpg", quality=95)
        assert tv.io.decode_image(tv.io.read_file(f"{folder}/a.jpg")).shape == (3, 12, 10)


def boxes() -> Any:
    o = tv.ops
    kinds = torch.tensor([0, 0, 1])
    kept = o.batched_nms(BOXES, torch.tensor([0.5, 0.9, 0.1]), kinds, 0.5)
    assert kept.tolist() == [1, 2]
    return [
        o.box_iou(BOXES, BOXES),
        o.generalized_box_iou(BOXES, BOXES),
        o.box_convert(BOXES, "xyxy", "cxcywh"),
        o.box_area(BOXES),
        o.masks_to_boxes(uniform(2, 8, 8) > 0.5),
        o.sigmoid_focal_loss(normal(4), whole(2, 4).float()),
    ]


def regions_have_gradients() -> None:
    o = tv.ops
    rois = [BOXES / 8]
    for function, channels in (
        *(
            ((lambda x: o.roi_align(x, rois, 2, sampling_ratio=2)), 4),
            ((lambda x: o.roi_pool(x, rois, 2)), 4),
        ),
        *(((lambda x: o.ps_roi_align(x, rois, 2)), 4), ((lambda x: o.ps_roi_pool(x, rois, 2)), 4)),
    ):
        x = normal(1, channels, 9, 9).requires_grad_()
        out = function(x)
        out.sum().backward()
        assert out.shape[0] == 3 and x.grad.any()
    layer = o.DeformConv2d(3, 4, 3)
    layer(normal(1, 3, 8, 8), normal(1, 18, 6, 6)).sum().backward()
    assert layer.weight.grad.any()


def detection_models_train_and_predict() -> None:
    pictures = [uniform(3, 64, 80), uniform(3, 60, 64)]
    targets = [{"boxes": BOXES[1:], "labels": torch.tensor([1, 2])} for _ in pictures]
    options = {"weights": None, "weights_backbone": None, "num_classes": 3}
    for model in (
        detection.fasterrcnn_mobilenet_v3_large_320_fpn(**options, min_size=64, max_size=80),
        detection.ssdlite320_mobilenet_v3_large(**options),
        detection.retinanet_resnet50_fpn(**options, min_size=64, max_size=80),
    ):
        losses = model(pictures, targets)
        assert all(bool(loss.isfinite()) for loss in losses.values())
        sum(losses.values()).backward()
        assert any(bool(p.grad.any()) for p in model.parameters() if p.grad is not None)
        found = model.eval()(pictures)
        assert [len(one["boxes"]) == len(one["scores"]) for one in found] == [True, True]


def features_inside() -> Any:
    model = filled(tv.models.resnet18(**PLAIN)).eval()
    parts = feature_extraction.create_feature_extractor(
        model, {"layer1": "a", "layer3.0.relu": "b"}
    )
    return list(parts(normal(1, 3, 32, 32)).values())
