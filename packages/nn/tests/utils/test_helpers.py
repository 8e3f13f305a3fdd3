"""Pruning, fusion, functional calls, layers without first values, memory formats."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import utils
from taeda.nn.utils import prune
from taeda.nn.utils.stateless import functional_call

# ---- pruning ----


@pytest.fixture
def layer():
    made = nn.Linear(4, 3)
    made.weight.data = taeda.arange(12.0).reshape(3, 4) - 5
    return made


def zeros(tensor):
    return (tensor == 0).nonzero().tolist()


def test_the_smallest_elements(layer):
    prune.l1_unstructured(layer, "weight", 3)
    assert zeros(layer.weight) == [[1, 0], [1, 1], [1, 2]]
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert [name for name, _ in layer.named_buffers()] == ["weight_mask"]
    assert prune.is_pruned(nn.Sequential(layer))


def test_pruning_again_combines(layer):
    prune.l1_unstructured(layer, "weight", 3)
    prune.ln_structured(layer, "weight", 1, n=2, dim=1)
    assert int((layer.weight_mask == 0).sum()) == 5
    [hook] = layer._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer)
    assert [type(m).__name__ for m in hook] == ["L1Unstructured", "LnStructured"]
    assert len(hook) == 2
    assert hook[0].amount == 3


def test_gradients_flow_to_what_is_left(layer):
    prune.custom_from_mask(layer, "weight", taeda.eye(3, 4))
    layer(taeda.ones(1, 4)).sum().backward()
    assert taeda.equal(layer.weight_orig.grad, taeda.eye(3, 4))


def test_remove_makes_it_final(layer):
    prune.l1_unstructured(layer, "weight", 0.25)
    pruned = layer.weight.detach().clone()
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    assert taeda.equal(layer.weight, pruned)
    assert not prune.is_pruned(layer)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(layer, "weight")


def test_random_methods(layer):
    prune.random_unstructured(layer, "weight", 5)
    assert int((layer.weight_mask == 0).sum()) == 5
    other = prune.random_structured(nn.Linear(4, 3), "weight", 1, dim=0)
    assert sorted(other.weight_mask.sum(1).tolist()) == [0, 4, 4]
    same = prune.identity(nn.Linear(4, 3), "weight")
    assert same.weight_mask.min().item() == 1


def test_all_parameters_together():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    nn.init.constant_(net[0].weight, 0.1)
    nn.init.constant_(net[1].weight, 5.0)
    pairs = [(net[0], "weight"), (net[1], "weight")]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.5)
    assert net[0].weight.abs().sum().item() == 0
    assert (net[1].weight == 5).all()


def test_a_tensor_alone():
    kept = prune.L1Unstructured(0.5).prune(taeda.tensor([1.0, -2.0, 3.0, -4.0]))
    assert kept.abs().tolist() == [0, 0, 3, 4]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda m: prune.l1_unstructured(m, "weight", 1.5), ValueError, "amount=1.5"),
        (lambda m: prune.l1_unstructured(m, "weight", -1), ValueError, "amount=-1"),
        (lambda m: prune.l1_unstructured(m, "weight", 100), ValueError, "parameters to prune=12"),
        (lambda m: prune.l1_unstructured(m, "weight", "a"), TypeError, "Invalid type for amount: a"),
        (lambda m: prune.ln_structured(m, "bias", 1, 2, 0), ValueError, "multidimensional"),
        (lambda m: prune.ln_structured(m, "weight", 1, 2, 5), IndexError, "Invalid index 5"),
        (lambda m: prune.global_unstructured([(m, "weight")], prune.RandomStructured, amount=1), TypeError, "unstructured"),
        (lambda m: prune.PruningContainer().add_pruning_method(3), TypeError, "not a BasePruningMethod"),
    ],
)  # fmt: skip
def test_pruning_refuses(layer, call, error, text):
    with pytest.raises(error, match=text):
        call(layer)


# ---- fusion ----


def normalisation(kind, features):
    bn = kind(features)
    with taeda.no_grad():
        for tensor in (bn.weight, bn.bias, bn.running_mean, bn.running_var):
            tensor.uniform_(0.5, 2)
    return bn.eval()


@pytest.mark.parametrize("bias", [True, False])
def test_a_fused_convolution_computes_both(bias):
    conv, bn = nn.Conv2d(2, 3, 3, bias=bias).eval(), normalisation(nn.BatchNorm2d, 3)
    x = taeda.randn(1, 2, 5, 5)
    assert taeda.allclose(utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-5)
    transposed = nn.ConvTranspose2d(2, 3, 3, bias=bias).eval()
    fused = utils.fuse_conv_bn_eval(transposed, bn, transpose=True)
    assert taeda.allclose(fused(x), bn(transposed(x)), atol=1e-5)


def test_a_fused_linear_computes_both():
    linear, bn = nn.Linear(4, 3).eval(), normalisation(nn.BatchNorm1d, 3)
    x = taeda.randn(2, 4)
    assert taeda.allclose(utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="only for eval"):
        utils.fuse_linear_bn_eval(nn.Linear(4, 3), bn)
    with pytest.raises(AssertionError, match="got 5 and 3"):
        utils.fuse_linear_bn_eval(nn.Linear(4, 5).eval(), bn)


# ---- functional calls ----


def test_other_tensors_for_one_call():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, affine=False).eval())
    before = model[0].weight
    weight = taeda.eye(2, requires_grad=True)
    given = {"0.weight": weight, "0.bias": taeda.zeros(2), "1.running_mean": taeda.ones(2)}
    result = functional_call(model, given, taeda.ones(1, 2))
    assert result.abs().max().item() < 1e-4
    assert model[0].weight is before
    result.sum().backward()
    assert weight.grad is not None
    assert before.grad is None


def test_tied_names_follow():
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    model[1].weight = model[0].weight
    three = taeda.full((1, 1), 3.0)
    x = taeda.ones(1, 1)
    assert functional_call(model, {"0.weight": three}, x).item() == 9
    once = functional_call(model, {"0.weight": three}, x, tie_weights=False).item()
    assert once == pytest.approx(3 * model[0].weight.item())
    with pytest.raises(ValueError, match="which are tied"):
        functional_call(model, {"0.weight": three, "1.weight": three + 1}, x)


def test_strict_calls_and_errors_leave_the_module_as_it_was():
    model = nn.Linear(2, 2)
    before = model.weight
    with pytest.raises(RuntimeError, match=r"missing key\(s\) \['bias'\]"):
        functional_call(model, {"weight": taeda.eye(2)}, taeda.ones(1, 2), strict=True)
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": taeda.ones(3, 3)}, taeda.ones(1, 2))
    assert model.weight is before is model._parameters["weight"]


# ---- the rest ----


def test_skip_init():
    layer = utils.skip_init(nn.Linear, 2, 3, dtype=taeda.float64)
    assert layer.weight.shape == (3, 2)
    assert layer.weight.device.type == "cpu"
    assert layer.weight.dtype is taeda.float64
    with pytest.raises(RuntimeError, match="'device' arg"):
        utils.skip_init(nn.ReLU)
    with pytest.raises(RuntimeError, match="Expected a Module"):
        utils.skip_init(dict)


def test_memory_formats_of_convolutions():
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Linear(2, 2))
    utils.convert_conv2d_weight_memory_format(model, taeda.channels_last)
    assert model[0].weight.is_contiguous(memory_format=taeda.channels_last)
