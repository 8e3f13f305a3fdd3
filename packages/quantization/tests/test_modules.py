"""Packed layers compute what their matrix says, and live as modules do."""

from __future__ import annotations

import copy
import pickle

import pytest

import taeda
from taeda import nn
from taeda.quantization import (
    Int4Embedding,
    Int4Linear,
    Int8Embedding,
    Int8Linear,
    int4_weight_only,
    int8_weight_only,
)
from taeda.quantization._pack import Packed

CONFIGS = [
    int8_weight_only(),
    int8_weight_only(32),
    int4_weight_only(),
    int4_weight_only(symmetric=False),
]


def layer(config, bias=True):
    taeda.manual_seed(0)
    linear = nn.Linear(96, 20, bias=bias)
    return linear, config.linear(20, 96, config.pack(linear.weight.detach()), linear.bias)


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("shape", [(96,), (3, 96), (2, 20, 96)])
def test_linear(config, bias, shape):
    linear, packed = layer(config, bias)
    x = taeda.randn(shape)
    matrix = packed.dequantize()
    assert (matrix - linear.weight).abs().max() < (0.001 if config.name == "int8" else 0.02)
    assert taeda.allclose(packed(x), nn.functional.linear(x, matrix, linear.bias), atol=1e-4)
    assert packed.bias is linear.bias  # an optimizer that has it still trains it


@pytest.mark.parametrize("config", CONFIGS)
def test_gradients_flow_to_input_and_bias(config):
    _, packed = layer(config)
    x = taeda.randn(3, 96, requires_grad=True)
    packed(x).sum().backward()
    assert taeda.allclose(x.grad, packed.dequantize().sum(0).expand(3, 96), atol=1e-5)
    assert packed.bias.grad.tolist() == [3.0] * 20
    assert [name for name, _ in packed.named_parameters()] == ["bias"]
    with pytest.raises(RuntimeError, match="floating"):
        packed.weight.requires_grad_()


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
def test_other_dtypes_convert_the_bias_and_leave_the_weight(config, dtype):
    _, packed = layer(config)
    before = packed.dequantize()
    kinds = [None if part is None else part.dtype for part in packed._parts()]
    packed.to(dtype)
    assert packed.bias.dtype == dtype
    assert [None if part is None else part.dtype for part in packed._parts()] == kinds
    assert taeda.equal(packed.dequantize(), before)
    assert packed(taeda.ones(2, 96, dtype=dtype)).dtype == dtype
    with pytest.raises(NotImplementedError, match="float64"):
        packed.double()(taeda.ones(2, 96, dtype=taeda.float64))


def test_the_weight_moves_as_a_whole():
    _, packed = layer(int8_weight_only())
    moved = packed.to("meta")
    assert {part.device.type for part in (*moved.parameters(), *moved.buffers())} == {"meta"}
    assert moved(taeda.ones(2, 96, device="meta")).shape == (2, 20)


@pytest.mark.parametrize("config", CONFIGS)
def test_copies_and_files(config, tmp_path):
    _, packed = layer(config)
    x = taeda.randn(2, 96)
    for again in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert again.weight.data_ptr() != packed.weight.data_ptr()
        assert taeda.equal(again(x), packed(x))
    state = packed.state_dict()
    assert sorted(state) == sorted(
        ["weight", "scales", "bias"] + ["offsets"] * ("offsets" in state)
    )
    for name in ("a.pt", "a.safetensors"):
        taeda.save(state, tmp_path / name)
        other = config.linear(
            20, 96, config.pack(taeda.randn(20, 96)), nn.Parameter(taeda.zeros(20))
        )
        other.load_state_dict(taeda.load(tmp_path / name))
        assert taeda.equal(other(x), packed(x))


def test_state_that_would_be_converted_is_refused():
    linear, packed = layer(int8_weight_only())
    with pytest.raises(RuntimeError, match=r"weight is taeda.float32.*Int8Linear.*taeda.int8"):
        packed.load_state_dict(linear.state_dict())
    wide = {**packed.state_dict(), "scales": packed.scales.float()}
    with pytest.raises(RuntimeError, match=r"scales is taeda.float32"):
        packed.load_state_dict(wide)
    with pytest.raises(RuntimeError, match=r"Missing.*scales"):
        packed.load_state_dict({"weight": packed.weight, "bias": packed.bias})
    with pytest.raises(RuntimeError, match="size mismatch for scales"):
        packed.load_state_dict({**packed.state_dict(), "scales": taeda.ones(20, 3).half()})
    with pytest.raises(RuntimeError, match=r"Unexpected.*scales"):
        linear.load_state_dict(packed.state_dict())


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_embedding_reads_the_rows_of_the_matrix(config, shape):
    _, packed = layer(config)
    table = config.embedding(20, 96, Packed(*packed._parts()), None, taeda.float32)
    index = taeda.randint(0, 20, shape)
    assert taeda.equal(table(index), packed.dequantize()[index])
    assert table.to(taeda.bfloat16)(index).dtype == taeda.bfloat16
    with pytest.raises(IndexError):
        table(taeda.tensor([20]))


@pytest.mark.parametrize(
    ("kind", "weight", "scales"),
    [
        (Int8Linear, taeda.zeros(20, 64, dtype=taeda.int8), taeda.ones(20, 1)),
        (Int8Linear, taeda.zeros(20, 96, dtype=taeda.uint8), taeda.ones(20, 1)),
        (Int8Linear, taeda.zeros(20, 96, dtype=taeda.int8), taeda.ones(20, 2)),
        (Int4Linear, taeda.zeros(20, 96, dtype=taeda.uint8), taeda.ones(20, 1)),
        (Int4Linear, taeda.zeros(20, 64, dtype=taeda.int8), taeda.ones(20, 3)),
        (Int4Linear, taeda.zeros(21, 64, dtype=taeda.uint8), taeda.ones(21, 3)),
    ],
)
def test_parts_that_do_not_fit_are_refused_when_the_layer_is_made(kind, weight, scales):
    with pytest.raises((RuntimeError, ValueError), match=r"20|64|weight|scales"):
        kind(20, 96, Packed(weight, scales, None), None)


def test_text():
    _, packed = layer(int8_weight_only(32))
    assert repr(packed) == "Int8Linear(in_features=96, out_features=20, bias=True, group_size=32)"
    table = Int8Embedding(20, 96, Packed(*packed._parts()), None, taeda.float32)
    assert repr(table) == "Int8Embedding(20, 96, group_size=32, dtype=taeda.float32)"
    assert issubclass(Int4Embedding, nn.Module)
