"""All losses under one name: which they are, and what they share."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import linear_cross_entropy, loss, loss_classes, loss_pairs, loss_regression
from taeda.nn.modules._loss_base import _Loss

FILES = (linear_cross_entropy, loss_classes, loss_pairs, loss_regression)
LOSSES = [n for n in loss.__all__ if n.endswith(("Loss", "Loss2d"))]
OTHERS = {"LinearCrossEntropyLoss": (3, 4)}


def test_every_loss_of_the_files_is_named():
    assert sorted(loss.__all__) == sorted(name for file in FILES for name in file.__all__)
    for name in loss.__all__:
        assert getattr(nn, name) is getattr(loss, name)


@pytest.mark.parametrize("name", LOSSES)
def test_the_mean_is_the_default_and_every_reduction_is_kept(name):
    kind = getattr(loss, name)
    assert issubclass(kind, _Loss) and kind.__name__ == name
    given = OTHERS.get(name, ())
    assert kind(*given).reduction == "mean"
    assert kind(*given, reduction="sum").reduction == "sum"


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "BCEWithLogitsLoss", "SoftMarginLoss"])
def test_a_loss_of_nothing(name):
    x = taeda.ones(0, 3, requires_grad=True)
    made = getattr(loss, name)(reduction="sum")(x, taeda.ones(0, 3))
    made.backward()
    assert made.item() == 0 and x.grad.shape == (0, 3)


def test_losses_written_elsewhere_inherit():

    class Mine(loss._Loss):
        def forward(self, x):
            return x.sum() if self.reduction == "sum" else x.mean()

    assert Mine(reduction="sum")(taeda.ones(3)) == 3
    assert issubclass(nn.MSELoss, _Loss)
    assert issubclass(nn.CrossEntropyLoss, loss._WeightedLoss)
