"""Weight-only layers beside torchao's on the processor: with its integers and scales they are the same
layers, and integers of our own are as near to the weights as its.
"""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
import torch

import taeda
from taeda.quantization import int4_weight_only, int8_weight_only, load_quantized_, quantize_
from taeda.quantization._pack import halves

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torchao = pytest.importorskip(
        "torchao.quantization",
        reason="compares with the distribution torchao, which is not installed here",
    )
pytestmark = pytest.mark.filterwarnings("ignore")
PerGroup = torchao.granularity.PerGroup
MappingType = torchao.quant_primitives.MappingType


def intx(bits, **more):
    return torchao.IntxWeightOnlyConfig(getattr(torch, f"int{bits}"), PerGroup(32), **more)


#: ours, theirs, and how many steps there are from the middle of a group to its end (None: no middle)
CONFIGS = {
    "int8": (lambda: int8_weight_only(), lambda: torchao.Int8WeightOnlyConfig(), 127),
    "int8_groups": (lambda: int8_weight_only(32), lambda: intx(8), 127),
    "int4": (lambda: int4_weight_only(32), lambda: intx(4), 7),
    "int4_offsets": (
        lambda: int4_weight_only(32, symmetric=False),
        lambda: intx(4, mapping_type=MappingType.ASYMMETRIC),
        None,
    ),
}
SHAPES = [(8, 32), (48, 96), (33, 256)]


def layers(name, n, k):
    """Our float layer, our packed one and torchao's, all of the same weight."""
    torch.manual_seed(n)
    weight, bias = torch.randn(n, k) * torch.rand(n, 1), torch.randn(n)
    theirs = torch.nn.Sequential(torch.nn.Linear(k, n)).eval()
    theirs.load_state_dict({"0.weight": weight, "0.bias": bias})
    ours = taeda.nn.Sequential(taeda.nn.Linear(k, n)).eval()
    ours.load_state_dict({key: mine(value) for key, value in theirs.state_dict().items()})
    packed = copy.deepcopy(ours)
    mine_config, their_config, _ = CONFIGS[name]
    quantize_(packed, mine_config(), measure=False)
    torchao.quantize_(theirs, their_config())
    return ours, packed, theirs


def mine(x):
    return taeda.from_numpy(x.detach().numpy().copy())


def taken(name, ours, theirs):
    """Our packed layer with the integers and scales of theirs: (q - zero) * scale."""
    weight = theirs[0].weight
    scale, q = weight.scale.float(), weight.qdata
    state = {"0.bias": mine(theirs[0].bias), "0.scales": mine(scale)}
    if name.startswith("int8"):
        state["0.weight"] = mine(q)
    else:
        state["0.weight"] = halves(mine((q + 8).to(torch.uint8)))
        zero = weight.zero_point.float() if name == "int4_offsets" else 0
        if name == "int4_offsets":
            state["0.offsets"] = mine(-(8 + zero) * scale)
    return load_quantized_(copy.deepcopy(ours), state).eval()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CONFIGS)
def test_with_their_integers_it_is_the_same_layer(name, shape):
    ours, _, theirs = layers(name, *shape)
    made = taken(name, ours, theirs)
    want = theirs[0].weight.dequantize().float().numpy()
    exact = name != "int4_offsets"  # there the zero is a product more
    off = np.abs(made[0].dequantize().numpy() - want).max()
    assert off <= (0 if exact else 1e-6 * np.abs(want).max())
    for rows in (1, 5, 40):
        x = torch.randn(rows, shape[1])
        want = theirs(x).detach().numpy()
        assert np.abs(made(mine(x)).detach().numpy() - want).max() <= 1e-4 * np.abs(want).max()


@pytest.mark.parametrize("shape", SHAPES[1:])  # of few numbers luck decides
@pytest.mark.parametrize("name", CONFIGS)
def test_our_integers_are_as_near_to_the_weights(name, shape):
    ours, packed, theirs = layers(name, *shape)
    weight = ours[0].weight.detach().numpy()
    mine_off = packed[0].dequantize().numpy() - weight
    their_off = theirs[0].weight.dequantize().float().numpy() - weight
    assert np.linalg.norm(mine_off) <= 1.03 * np.linalg.norm(their_off)
    steps = CONFIGS[name][2]
    groups = weight.reshape(shape[0], -1, shape[1] if name == "int8" else 32)
    if steps is not None:
        step = np.abs(groups).max(2) / steps
    else:
        step = (groups.max(2) - groups.min(2)) / 15
    far = np.abs(mine_off - their_off).reshape(groups.shape).max(2)
    assert (far <= 1.51 * step).all()  # half a step each, and what a clamped end takes


def test_scales_follow_the_rules_that_the_documentation_states():
    """Theirs is the largest magnitude over 127.5, ours over 127, in float16."""
    ours, packed, theirs = layers("int8", 48, 96)
    largest = ours[0].weight.detach().abs().amax(1).numpy()
    their_scale = theirs[0].weight.scale.reshape(-1).float().numpy()
    assert np.allclose(their_scale, largest / 127.5, rtol=1e-6)
    assert np.allclose(packed[0].scales.float().numpy().reshape(-1), largest / 127, rtol=2.0**-11)
