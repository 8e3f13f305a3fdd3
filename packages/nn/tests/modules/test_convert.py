"""Moves and casts of a module's tensors."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (lambda m: m.double(), taeda.float64),
        (lambda m: m.half(), taeda.float16),
        (lambda m: m.bfloat16(), taeda.bfloat16),
        (lambda m: m.double().float(), taeda.float32),
        (lambda m: m.to(taeda.float64), taeda.float64),
        (lambda m: m.to("cpu", taeda.float64), taeda.float64),
        (lambda m: m.to(device="cpu", dtype=taeda.float64), taeda.float64),
        (lambda m: m.to(taeda.ones(1, dtype=taeda.float64)), taeda.float64),
    ],
)
def test_floating_tensors_are_cast_in_place(convert, dtype):
    model = net()
    before = dict(model.named_parameters())
    assert convert(model) is model
    assert dict(model.named_parameters()) == before or all(
        model.get_parameter(name) is parameter for name, parameter in before.items()
    )
    assert model[0].weight.dtype is dtype
    assert model[1].running_mean.dtype is dtype
    assert model[1].num_batches_tracked.dtype is taeda.int64


def test_gradients_move_too():
    model = net()
    model(taeda.randn(4, 2)).sum().backward()
    grad = model[0].weight.grad
    model.double()
    assert model[0].weight.grad is grad
    assert grad.dtype is taeda.float64


def test_shared_parameters_stay_shared():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    model.double()
    assert model[1].weight is model[0].weight


def test_an_optimizer_stays_valid():
    model = nn.Linear(2, 1)
    kept = list(model.parameters())
    model.double()
    model(taeda.ones(1, 2, dtype=taeda.float64)).backward()
    assert all(p.grad is not None for p in kept)


def test_complex():
    with pytest.warns(UserWarning, match="Complex modules"):
        model = nn.Linear(2, 2).to(taeda.complex64)
    assert model.weight.dtype is taeda.complex64


@pytest.mark.parametrize("dtype", [taeda.int64, taeda.bool])
def test_integer_dtypes_are_refused(dtype):
    with pytest.raises(TypeError, match="floating point or complex"):
        net().to(dtype)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="invalid combination"):
        net().to("cpu", taeda.float32, False, 3)
    with pytest.raises(RuntimeError):
        net().to("nowhere")


def test_meta_and_back():
    layer = nn.Linear(2, 3, device="meta")
    assert layer.weight.is_meta
    with pytest.raises(NotImplementedError, match="to_empty"):
        layer.to("cpu")
    assert layer.to_empty(device="cpu") is layer
    assert layer.weight.shape == (3, 2)
    assert not layer.weight.is_meta
    assert isinstance(layer.weight, nn.Parameter)
    layer.reset_parameters()
    assert layer(taeda.ones(1, 2)).shape == (1, 3)


def test_memory_format_applies_to_images():
    layer = nn.Conv2d(2, 4, 3).to(memory_format=taeda.channels_last)
    assert layer.weight.is_contiguous(memory_format=taeda.channels_last)
    assert layer.bias.is_contiguous()


def test_share_memory_moves_parameters_gradients_and_buffers():
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    net(taeda.ones(4, 2)).sum().backward()
    weight = net[0].weight
    assert net.share_memory() is net
    assert net[0].weight is weight
    assert all(t.is_shared() for t in (*net.parameters(), *net.buffers(), weight.grad))
