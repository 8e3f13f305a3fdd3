"""With use_deterministic_algorithms, a sample's result has the same bits in any batch and on any
number of threads.
"""

from __future__ import annotations

import inspect

import pytest

import taeda
from taeda import nn

BATCHES = (1, 2, 3, 4, 5, 12, 13, 16, 17, 33, 48, 49, 50, 64, 100, 257, 512)
SAMPLES = 512


@pytest.fixture(autouse=True)
def as_before():
    threads = taeda.get_num_threads()
    taeda.use_deterministic_algorithms(True)
    yield
    taeda.use_deterministic_algorithms(False)
    taeda.set_num_threads(threads)


class Recurrent(nn.Module):
    """The outputs of a recurrent layer."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


class SelfAttention(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return self.layer(x, x, x)[0]


class ToItself(nn.Module):
    """A layer of two inputs, given one twice."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x, x)


# name of the layer: the layers, and the shape of a sample
CASES = {
    "Linear": [
        (lambda: nn.Linear(784, 96), (784,)),
        (lambda: nn.Linear(40, 24), (40,)),
        (lambda: nn.Linear(700, 1), (700,)),
        (lambda: nn.Linear(1100, 5), (1100,)),
        (lambda: nn.Linear(96, 40, bias=False), (3, 96)),
    ],
    "Bilinear": [(lambda: ToItself(nn.Bilinear(20, 20, 9)), (20,))],
    "Conv1d": [(lambda: nn.Conv1d(8, 12, 5), (8, 40)), (lambda: nn.Conv1d(4, 8, 3, groups=4), (4, 30))],
    "Conv2d": [
        (lambda: nn.Conv2d(16, 24, 3, padding=1), (16, 8, 8)),
        (lambda: nn.Conv2d(16, 24, 3, padding=1), (16, 16, 16)),
        (lambda: nn.Conv2d(3, 16, 5, stride=2), (3, 17, 15)),
        (lambda: nn.Conv2d(24, 8, 1), (24, 7, 7)),
        (lambda: nn.Conv2d(8, 8, 3, groups=8), (8, 12, 12)),
        (lambda: nn.Conv2d(8, 16, 3, groups=2), (8, 12, 12)),
    ],
    "Conv3d": [(lambda: nn.Conv3d(3, 6, 3), (3, 6, 7, 5))],
    "ConvTranspose1d": [(lambda: nn.ConvTranspose1d(8, 6, 3, stride=2), (8, 20))],
    "ConvTranspose2d": [(lambda: nn.ConvTranspose2d(8, 6, 3), (8, 9, 9)),
                        (lambda: nn.ConvTranspose2d(16, 16, 3, padding=1), (16, 14, 14)),
                        (lambda: nn.ConvTranspose2d(8, 6, 2, stride=2), (8, 5, 5))],
    "ConvTranspose3d": [(lambda: nn.ConvTranspose3d(4, 3, 3), (4, 4, 4, 4))],
    "RNN": [(lambda: Recurrent(nn.RNN(12, 20, batch_first=True)), (6, 12))],
    "LSTM": [(lambda: Recurrent(nn.LSTM(12, 20, 2, batch_first=True, bidirectional=True)), (6, 12))],
    "GRU": [(lambda: Recurrent(nn.GRU(12, 20, batch_first=True)), (6, 12))],
    "RNNCell": [(lambda: nn.RNNCell(100, 20), (100,))],
    "LSTMCell": [(lambda: Recurrent(nn.LSTMCell(100, 20)), (100,))],
    "GRUCell": [(lambda: nn.GRUCell(100, 20), (100,))],
    "MultiheadAttention": [(SelfAttention, (10, 16))],
    "TransformerEncoderLayer": [(lambda: nn.TransformerEncoderLayer(16, 4, 40, batch_first=True), (7, 16))],
    "TransformerDecoderLayer": [(lambda: ToItself(nn.TransformerDecoderLayer(16, 4, 40,
        batch_first=True)), (7, 16))],
    "Transformer": [(lambda: ToItself(nn.Transformer(16, 4, 1, 1, 40, batch_first=True)), (5, 16))],
    "BatchNorm1d": [(lambda: nn.BatchNorm1d(19), (19,))],
    "BatchNorm2d": [(lambda: nn.BatchNorm2d(6), (6, 5, 7))],
    "BatchNorm3d": [(lambda: nn.BatchNorm3d(3), (3, 4, 3, 2))],
    "InstanceNorm1d": [(lambda: nn.InstanceNorm1d(6), (6, 35))],
    "InstanceNorm2d": [(lambda: nn.InstanceNorm2d(6), (6, 5, 7))],
    "InstanceNorm3d": [(lambda: nn.InstanceNorm3d(3), (3, 4, 3, 2))],
    "GroupNorm": [(lambda: nn.GroupNorm(3, 6), (6, 5, 7))],
    "LayerNorm": [(lambda: nn.LayerNorm(77), (77,))],
    "RMSNorm": [(lambda: nn.RMSNorm(77), (77,))],
    "LocalResponseNorm": [(lambda: nn.LocalResponseNorm(3), (6, 5, 7))],
    "MaxPool1d": [(lambda: nn.MaxPool1d(3), (4, 20))],
    "MaxPool2d": [(lambda: nn.MaxPool2d(3, 2, 1), (4, 9, 9))],
    "MaxPool3d": [(lambda: nn.MaxPool3d(2), (3, 4, 5, 6))],
    "AvgPool1d": [(lambda: nn.AvgPool1d(3), (4, 20))],
    "AvgPool2d": [(lambda: nn.AvgPool2d(3, 2, 1), (4, 9, 9))],
    "AvgPool3d": [(lambda: nn.AvgPool3d(2), (3, 4, 5, 6))],
    "LPPool1d": [(lambda: nn.LPPool1d(2, 4), (4, 20))],
    "LPPool2d": [(lambda: nn.LPPool2d(2, 2), (4, 9, 9))],
    "LPPool3d": [(lambda: nn.LPPool3d(2, 2), (3, 4, 5, 6))],
    "AdaptiveAvgPool1d": [(lambda: nn.AdaptiveAvgPool1d(7), (4, 20))],
    "AdaptiveAvgPool2d": [(lambda: nn.AdaptiveAvgPool2d((1, 1)), (4, 9, 9))],
    "AdaptiveAvgPool3d": [(lambda: nn.AdaptiveAvgPool3d(2), (3, 4, 5, 6))],
    "AdaptiveMaxPool1d": [(lambda: nn.AdaptiveMaxPool1d(7), (4, 20))],
    "AdaptiveMaxPool2d": [(lambda: nn.AdaptiveMaxPool2d(2), (4, 9, 9))],
    "AdaptiveMaxPool3d": [(lambda: nn.AdaptiveMaxPool3d(2), (3, 4, 5, 6))],
    "Upsample": [(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (3, 6, 7))],
    "CosineSimilarity": [(lambda: ToItself(nn.CosineSimilarity()), (50,))],
    "PairwiseDistance": [(lambda: ToItself(nn.PairwiseDistance()), (50,))],
    "Softmax": [(lambda: nn.Softmax(-1), (50,))],
    "LogSoftmax": [(lambda: nn.LogSoftmax(-1), (50,))],
    "Softmax2d": [(lambda: nn.Softmax2d(), (5, 4, 3))],
    "Softmin": [(lambda: nn.Softmin(-1), (50,))],
}  # fmt: skip
_ONE_INPUT = """
ELU GELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid Mish PReLU ReLU ReLU6
RReLU SELU CELU SiLU Sigmoid Softplus Softshrink Softsign Tanh Tanhshrink Identity Flatten
Dropout AlphaDropout
"""
CASES |= {name: [(getattr(nn, name), (37,))] for name in _ONE_INPUT.split()}

# Why a layer has no case above.
ELSEWHERE = {
    "containers and their "
    "bases": "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Container "
    "RNNBase RNNCellBase "
    "TransformerEncoder TransformerDecoder SyncBatchNorm CrossMapLRN2d Parameter",
    "numbers are only moved or "
    "dropped": "ChannelShuffle PixelShuffle PixelUnshuffle Unflatten Fold Unfold Embedding MaxUnpool1d "
    "MaxUnpool2d MaxUnpool3d UpsamplingNearest2d UpsamplingBilinear2d GLU Threshold Dropout1d "
    "Dropout2d Dropout3d FeatureAlphaDropout "
    "FractionalMaxPool2d FractionalMaxPool3d",
    "bags of words, no batch of samples": "EmbeddingBag",
    "a head with clusters": "AdaptiveLogSoftmaxWithLoss",
}


def layers() -> set[str]:
    """Layers of nn that take samples: not losses, paddings or lazy forms."""
    kinds = {
        name
        for name in nn.__all__
        if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Module)
    }
    return {
        name
        for name in kinds
        if "Loss" not in name.removesuffix("WithLoss")
        and "Pad" not in name
        and not name.startswith("Lazy")
    }


def test_every_layer_has_a_case_or_a_reason():
    known = {name for names in ELSEWHERE.values() for name in names.split()} | set(CASES)
    assert layers() - known == set()


def bits(x):
    """The numbers as words, so that NaN equals itself and 0 is not -0."""
    return x.contiguous().view(taeda.int32)


@pytest.mark.parametrize("name", CASES)
def test_bits_do_not_depend_on_batch_or_threads(name):
    for make, shape in CASES[name]:
        taeda.manual_seed(5)
        layer = make().eval()
        x = taeda.randn(SAMPLES, *shape)
        with taeda.no_grad():
            taeda.set_num_threads(1)
            whole = layer(x)
            for threads in (1, 2, 5):
                taeda.set_num_threads(threads)
                for batch in BATCHES:
                    made = layer(x[:batch])
                    assert taeda.equal(bits(made), bits(whole[:batch])), (
                        name,
                        shape,
                        batch,
                        threads,
                    )
                assert taeda.equal(bits(layer(x[-3:])), bits(whole[-3:])), (name, shape, threads)
