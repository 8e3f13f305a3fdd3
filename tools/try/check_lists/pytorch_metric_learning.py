"""pytorch-metric-learning: losses, miners, accuracy."""

from __future__ import annotations

from typing import Any

import torch
from pytorch_metric_learning import distances, losses, miners
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

from .given import filled, normal, whole


def losses_and_miners() -> Any:
    x, y = normal(12, 6).requires_grad_(), whole(3, 12)
    kinds = [
        losses.TripletMarginLoss(),
        losses.ContrastiveLoss(),
        losses.NTXentLoss(),
        losses.SupConLoss(),
        losses.CircleLoss(),
    ]
    kinds += [
        losses.MultiSimilarityLoss(),
        losses.TripletMarginLoss(distance=distances.CosineSimilarity()),
    ]
    kinds += [
        filled(losses.ArcFaceLoss(3, 6)),
        filled(losses.ProxyAnchorLoss(3, 6)),
        losses.FastAPLoss(),
    ]
    found = [kind(x, y) for kind in kinds]
    mined = (miners.MultiSimilarityMiner(), miners.TripletMarginMiner(), miners.BatchHardMiner())
    found += [losses.TripletMarginLoss()(x, y, miner(x, y)) for miner in mined]
    sum(found).backward()
    return [*found, x.grad]


def memory_and_accuracy() -> Any:
    from pytorch_metric_learning.utils.inference import CustomKNN

    bank = losses.CrossBatchMemory(losses.NTXentLoss(), 6, memory_size=20)
    values = [bank(normal(8, 6), whole(3, 8)) for _ in range(3)]
    judge = AccuracyCalculator(
        include=("precision_at_1", "r_precision"), k=3, knn_func=CustomKNN(distances.LpDistance())
    )
    x, y = normal(12, 6), whole(3, 12)
    assert torch.isfinite(values[-1])
    return [*values, *judge.get_accuracy(x, y).values()]
