"""Layers that are trained for integers: their weights are rounded to the steps that they will have."""

from . import dynamic
from ._layers import Conv1d, Conv2d, Conv3d, Embedding, EmbeddingBag, Linear

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear", "dynamic"]
