"""torchinfo: the table of a model."""

from __future__ import annotations

from typing import Any

import torch
from torchinfo import summary


def tables() -> Any:
    nn = torch.nn
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2)
    )
    told = summary(
        net,
        (2, 3, 8, 8),
        verbose=0,
        col_names=("input_size", "output_size", "num_params", "mult_adds", "trainable"),
    )
    assert "Conv2d" in str(told) and "[2, 4, 6, 6]" in str(told)
    lstm = summary(nn.LSTM(4, 5, 2), (3, 2, 4), verbose=0)
    return [
        told.total_params,
        told.total_mult_adds,
        told.total_output_bytes,
        lstm.total_params,
        lstm.total_mult_adds,
    ]
