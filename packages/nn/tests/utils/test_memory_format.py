"""Weights of convolutions in another order of memory."""

from __future__ import annotations

import taeda
from taeda import nn
from taeda.nn import utils


def test_memory_formats_of_convolutions():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Linear(2, 2))
    utils.convert_conv2d_weight_memory_format(model, taeda.channels_last)
    assert model[0].weight.is_contiguous(memory_format=taeda.channels_last)
