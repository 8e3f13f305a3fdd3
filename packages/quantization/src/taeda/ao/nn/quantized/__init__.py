"""Layers that take integers and give integers."""

from . import dynamic, functional
from .modules._base import WeightedQuantizedModule
from .modules.activation import ELU, Hardswish, LeakyReLU, PReLU, ReLU6, Sigmoid, Softmax
from .modules.attention import MultiheadAttention
from .modules.batchnorm import BatchNorm2d, BatchNorm3d
from .modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .modules.dropout import Dropout
from .modules.embedding_ops import Embedding, EmbeddingBag
from .modules.functional_modules import FloatFunctional, FXFloatFunctional, QFunctional
from .modules.linear import Linear
from .modules.normalization import (
    GroupNorm,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    LayerNorm,
)
from .modules.rnn import LSTM
from .modules.stubs import DeQuantize, Quantize

__all__ = [
    "ELU", "LSTM", "BatchNorm2d", "BatchNorm3d", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
    "ConvTranspose2d", "ConvTranspose3d", "DeQuantize", "Dropout", "Embedding", "EmbeddingBag",
    "FXFloatFunctional", "FloatFunctional", "GroupNorm", "Hardswish", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LayerNorm", "LeakyReLU", "Linear", "MultiheadAttention",
    "PReLU", "QFunctional", "Quantize", "ReLU6", "Sigmoid", "Softmax", "WeightedQuantizedModule",
    "dynamic", "functional",
]  # fmt: skip
