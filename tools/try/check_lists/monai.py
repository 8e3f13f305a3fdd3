"""monai: networks, losses, metrics, transforms and sliding windows of medical images."""

from __future__ import annotations

from typing import Any

import monai
import numpy as np
import torch
from monai import inferers, losses, metrics, transforms
from monai.networks import nets

from .given import filled, normal, trained, whole


def networks() -> Any:
    found = []
    for model in (
        nets.UNet(3, 1, 2, (4, 8, 16), (2, 2), num_res_units=1),
        nets.BasicUNet(2, 1, 2, features=(4, 4, 8, 8, 8, 4)),
        nets.SegResNet(2, 8, 1, 2),
        nets.DenseNet121(2, 1, 2),
        nets.AttentionUnet(2, 1, 2, (4, 8), (2,)),
        nets.ViT(
            1,
            (16, 16),
            (8, 8),
            hidden_size=16,
            mlp_dim=32,
            num_layers=1,
            num_heads=2,
            spatial_dims=2,
        ),
    ):
        filled(model).eval()
        flat = not isinstance(model, nets.UNet)
        x = normal(1, 1, *((32, 32) if flat else (16, 16, 16)))
        if isinstance(model, nets.ViT):
            x = x[..., :16, :16]
        out = model(x)
        found.append(out[0] if isinstance(out, tuple) else out)
    return found


def losses_and_metrics() -> Any:
    guess, truth = normal(2, 3, 8, 8), whole(3, 2, 1, 8, 8)
    options = {"to_onehot_y": True, "softmax": True}
    kinds = [
        losses.DiceLoss(**options),
        losses.DiceCELoss(**options),
        losses.DiceFocalLoss(**options),
        losses.TverskyLoss(**options),
    ]
    one = torch.nn.functional.one_hot(truth[:, 0], 3).movedim(-1, 1)
    other = torch.nn.functional.one_hot(guess.argmax(1), 3).movedim(-1, 1)
    found = [kind(guess, truth) for kind in kinds]
    return [
        *found,
        metrics.DiceMetric()(other, one),
        metrics.compute_iou(other, one),
        metrics.compute_hausdorff_distance(other, one),
    ]


def transforms_and_windows() -> Any:
    chain = transforms.Compose(
        [
            transforms.EnsureChannelFirst(channel_dim="no_channel"),
            transforms.ScaleIntensity(),
            transforms.Spacing((2.0, 2.0)),
            transforms.RandFlip(1.0, 0),
            transforms.Resize((24, 24)),
            transforms.GaussianSmooth(1.0),
        ]
    )
    out = chain(np.arange(40 * 40, dtype=np.float32).reshape(40, 40) % 7)
    assert type(out) is monai.data.MetaTensor
    drawn = transforms.Compose(
        [
            transforms.RandAffine(1.0, 0.5),
            transforms.RandGaussianNoise(1.0),
            transforms.RandZoom(1.0),
        ]
    )
    assert drawn(normal(1, 16, 16)).shape == (1, 16, 16)
    net = filled(torch.nn.Conv2d(1, 2, 3, padding=1))
    x = normal(1, 1, 40, 40)
    wide = inferers.sliding_window_inference(x, (16, 16), 2, net, overlap=0.25)
    data = monai.data.CacheDataset(
        [{"x": normal(1, 8, 8)} for _ in range(4)], transforms.RandFlipd("x", 1.0), progress=False
    )
    batch = next(iter(monai.data.DataLoader(data, 4)))["x"]
    values = trained(net, lambda: net(batch).square().mean())
    return [torch.as_tensor(out), wide, values[0]]
