"""timm: eighteen architectures, its data, optimizers and averages."""

from __future__ import annotations

import tempfile
from typing import Any

import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_data_config
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import ModelEmaV3

from .given import filled, normal, trained


def _passes(name: str, size: int = 64, **options: Any) -> list[Any]:
    model = filled(timm.create_model(name, num_classes=3, **options)).eval()
    x = normal(2, 3, size, size).requires_grad_()
    out = model(x)
    out.square().mean().backward()
    first = next(p.grad for p in model.parameters() if p.grad is not None)
    assert out.isfinite().all() and first.isfinite().all() and x.grad.isfinite().all()
    return [out, x.grad]


def resnet18() -> Any:
    return _passes("resnet18")


def mobilenetv3() -> Any:
    return _passes("mobilenetv3_small_050")


def efficientnet() -> Any:
    return _passes("efficientnet_b0")


def convnext() -> Any:
    return _passes("convnext_atto")


def regnet() -> Any:
    return _passes("regnety_002")


def densenet() -> Any:
    return _passes("densenet121")


def ghostnet() -> Any:
    return _passes("ghostnet_050")


def repvgg() -> Any:
    return _passes("repvgg_a0")


def edgenext() -> Any:
    return _passes("edgenext_xx_small")


def poolformer() -> Any:
    return _passes("poolformer_s12")


def vit() -> Any:
    return _passes("vit_tiny_patch16_224", img_size=64)


def deit() -> Any:
    return _passes("deit_tiny_distilled_patch16_224", img_size=64)


def swin() -> Any:
    return _passes("swin_tiny_patch4_window7_224", img_size=56, size=56)


def levit() -> Any:
    return _passes("levit_128s", size=224)


def efficientformer() -> Any:
    return _passes("efficientformer_l1", size=224)


def mixer() -> Any:
    return _passes("mixer_s32_224", size=224)


def maxvit() -> Any:
    return _passes("maxvit_rmlp_pico_rw_256", size=64, img_size=64)


def eva() -> Any:
    return _passes("eva02_tiny_patch14_224", size=56, img_size=56)


def data_and_augmentation() -> None:
    model = timm.create_model("resnet18", num_classes=3)
    config = resolve_data_config({}, model=model)
    picture = Image.new("RGB", (300, 200), (10, 200, 90))
    fixed = create_transform(**config)(picture)
    drawn = create_transform(
        224, is_training=True, auto_augment="rand-m9-mstd0.5", re_prob=1.0, re_mode="pixel"
    )(picture)
    assert fixed.shape == drawn.shape == (3, 224, 224)
    mixed = timm.data.Mixup(mixup_alpha=1.0, num_classes=3)
    _, y = mixed(normal(4, 3, 8, 8), torch.tensor([0, 1, 2, 0]))
    assert y.shape == (4, 3) and abs(float(y.sum()) - 4) < 1e-5


def optimizers_schedule_and_loss() -> None:
    x, y = normal(8, 3, 32, 32), torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
    loss = LabelSmoothingCrossEntropy(0.1)
    for name in ("sgd", "adamw", "lamb", "adafactor", "lion", "madgradw", "nadamw", "radam"):
        model = filled(timm.create_model("resnet10t", num_classes=3))
        optimizer = create_optimizer_v2(model, opt=name, lr=1e-3, weight_decay=0.01)
        schedule = CosineLRScheduler(optimizer, t_initial=5)
        losses = []
        for step in range(3):
            optimizer.zero_grad()
            value = loss(model(x), y)
            value.backward()
            optimizer.step()
            schedule.step(step + 1)
            losses.append(float(value))
        assert losses[1] < losses[0], (name, losses)


def averages_files_and_features() -> Any:
    model = filled(timm.create_model("resnet10t", num_classes=3))
    average = ModelEmaV3(model, decay=0.5)
    x, y = normal(4, 3, 32, 32), torch.tensor([0, 1, 2, 0])
    trained(model, lambda: torch.nn.functional.cross_entropy(model(x), y))
    average.update(model)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model.state_dict(), f"{folder}/m.pth")
        again = timm.create_model("resnet10t", num_classes=3, checkpoint_path=f"{folder}/m.pth")
    assert torch.equal(again.eval()(x), model.eval()(x))
    features = timm.create_model("resnet10t", features_only=True)
    return [part.shape[1] for part in features(x)]
