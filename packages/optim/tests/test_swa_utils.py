"""Averages of parameters."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda.optim import swa_utils
from taeda.optim.swa_utils import get_ema_avg_fn, get_ema_multi_avg_fn, update_bn

nn = pytest.importorskip("taeda.nn", reason="only those who have models average them")
AveragedModel = swa_utils.AveragedModel


def model(value):
    made = nn.Linear(1, 1, bias=False)
    with taeda.no_grad():
        made.weight.fill_(value)
    return made


def average(values, **options):
    averaged = AveragedModel(model(0.0), **options)
    for value in values:
        averaged.update_parameters(model(value))
    return averaged.module.weight.item(), averaged.n_averaged.item()


def test_equal_averages():
    assert average([1.0, 2.0, 6.0]) == (3.0, 3)


@pytest.mark.parametrize(
    "options", [{"avg_fn": get_ema_avg_fn(0.5)}, {"multi_avg_fn": get_ema_multi_avg_fn(0.5)}]
)
def test_exponential_averages(options):
    assert average([1.0, 2.0, 6.0], **options) == (3.75, 3)


def test_both_functions_are_refused():
    with pytest.raises(AssertionError, match="Only one"):
        AveragedModel(model(0.0), avg_fn=get_ema_avg_fn(), multi_avg_fn=get_ema_multi_avg_fn())
    with pytest.raises(ValueError, match=r"1\.5"):
        get_ema_avg_fn(1.5)


@pytest.mark.parametrize("use_buffers", [False, True])
def test_buffers_are_copied_or_averaged(use_buffers):
    norms = [nn.BatchNorm1d(1) for _ in range(2)]
    averaged = AveragedModel(norms[0], use_buffers=use_buffers)
    for value, norm in zip((1.0, 3.0), norms, strict=True):
        norm.running_mean.fill_(value)
        averaged.update_parameters(norm)
    assert averaged.module.running_mean.item() == (2.0 if use_buffers else 3.0)


def test_it_is_a_module_that_can_be_saved():
    averaged = AveragedModel(model(2.0))
    assert list(averaged.state_dict()) == ["n_averaged", "module.weight"]
    assert averaged(taeda.ones(1, 1)).item() == 2.0
    assert pickle.loads(pickle.dumps(averaged)).module.weight.item() == 2.0
    assert isinstance(averaged, nn.Module)
    assert swa_utils.AveragedModel is AveragedModel


def test_update_bn_is_an_equal_average_over_the_data():
    net = nn.Sequential(nn.BatchNorm1d(1), nn.Dropout(0.5)).eval()
    norm = net[0]
    norm.running_mean.fill_(100.0)
    batches = [taeda.tensor([[1.0], [3.0]]), [taeda.tensor([[5.0], [7.0]]), "label"]]
    update_bn(batches, net)
    assert norm.running_mean.item() == pytest.approx(4.0)
    assert norm.running_var.item() == pytest.approx(2.0)
    assert (norm.momentum, net.training) == (0.1, False)


def test_update_bn_without_norms_does_nothing():
    update_bn([], model(1.0))
