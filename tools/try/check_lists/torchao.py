"""torchao: weights of 8 bits."""

from __future__ import annotations

import torch
from torchao.quantization import Int8WeightOnlyConfig, quantize_

from .given import normal


def quantizes() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(64, 32))
    x = normal(2, 64)
    before = net(x)
    quantize_(net, Int8WeightOnlyConfig())
    assert (net(x) - before).abs().max() < 0.1
