"""vit-pytorch: vision transformers of several kinds."""

from __future__ import annotations

from typing import Any

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.deepvit import DeepViT

from .given import filled, gradients, normal, trained

SIZES = {"image_size": 16, "patch_size": 4, "num_classes": 3, "dim": 16, "heads": 2, "mlp_dim": 32}


def kinds() -> Any:
    found = []
    for kind, options in (
        (ViT, {"depth": 2}),
        (SimpleViT, {"depth": 2}),
        (DeepViT, {"depth": 2}),
        (CaiT, {"depth": 1, "cls_depth": 1}),
    ):
        model = filled(kind(**SIZES, **options)).eval()
        out = model(normal(2, 3, 16, 16))
        out.square().sum().backward()
        found += [out, gradients(model)[0]]
    return found


def learns() -> Any:
    model, x = filled(ViT(**SIZES, depth=2)), normal(4, 3, 16, 16)
    labels = torch.tensor([0, 1, 2, 0])
    return trained(model, lambda: torch.nn.functional.cross_entropy(model(x), labels))
