"""segmentation_models_pytorch: decoders on encoders, losses, metrics, files."""

from __future__ import annotations

import tempfile
from typing import Any

import segmentation_models_pytorch as smp
import torch

from .given import filled, normal, trained, whole


def _model(kind: str, **options: Any) -> list[Any]:
    model = filled(
        getattr(smp, kind)("resnet18", encoder_weights=None, classes=2, **options)
    ).eval()
    x = normal(1, 3, 128, 128).requires_grad_()
    out = model(x)
    out.square().mean().backward()
    return [out, x.grad]


def unets() -> Any:
    return [_model("Unet"), _model("UnetPlusPlus", decoder_attention_type="scse")]


def pyramids() -> Any:
    return [_model("FPN"), _model("PSPNet"), _model("PAN")]


def deeplab() -> Any:
    return [_model("DeepLabV3Plus"), _model("MAnet"), _model("Linknet")]


def losses() -> Any:
    guess, truth = normal(2, 3, 8, 8).requires_grad_(), whole(3, 2, 8, 8)
    kinds = [
        smp.losses.DiceLoss("multiclass"),
        smp.losses.JaccardLoss("multiclass"),
        smp.losses.FocalLoss("multiclass"),
    ]
    kinds += [smp.losses.LovaszLoss("multiclass"), smp.losses.TverskyLoss("multiclass")]
    found = [kind(guess, truth) for kind in kinds]
    sum(found).backward()
    return [*found, guess.grad]


def metrics() -> Any:
    counts = smp.metrics.get_stats(
        whole(3, 2, 8, 8), whole(3, 2, 8, 8), mode="multiclass", num_classes=3
    )
    return [
        smp.metrics.iou_score(*counts, reduction="micro"),
        smp.metrics.f1_score(*counts, reduction="macro"),
    ]


def trains_and_is_saved() -> Any:
    model = filled(smp.Unet("resnet18", encoder_weights=None, classes=1)).train()
    x, y = normal(2, 3, 32, 32), whole(2, 2, 1, 32, 32).float()
    loss = smp.losses.DiceLoss("binary")
    values = trained(model, lambda: loss(model(x), y))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = smp.from_pretrained(folder).eval()
    assert torch.equal(again(x), model.eval()(x))
    return values[:1]
