"""A small model that is quantized."""

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import quantized


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = q.QuantStub(), q.DeQuantStub()
        self.conv, self.bn, self.relu = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        self.skip, self.fc = quantized.FloatFunctional(), nn.Linear(4 * 36, 3)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.quant(x))))
        x = self.skip.add(x, x).flatten(1)
        return self.dequant(self.fc(x))


GROUP = ["conv", "bn", "relu"]


@pytest.fixture
def small_net():
    """The class of the model."""
    return Net


@pytest.fixture
def group():
    """Its layers that become one."""
    return GROUP


@pytest.fixture
def ready():
    """Makes the model, and beside it the same with observers."""

    def make(qconfig=None):
        taeda.manual_seed(0)
        model = Net().eval()
        model.qconfig = qconfig or q.get_default_qconfig("x86")
        return model, q.prepare(q.fuse_modules(model, GROUP))

    return make
