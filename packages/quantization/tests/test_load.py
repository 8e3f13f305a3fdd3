"""A quantized state dict into a fresh model."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.quantization import (
    Int8Linear,
    int4_weight_only,
    int8_weight_only,
    load_quantized_,
    quantize_,
)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 64)
        self.inner = nn.Linear(64, 64)
        self.short = nn.Linear(60, 4)
        self.head = nn.Linear(64, 50, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, index):
        x = self.inner(self.tokens(index))
        return self.head(x), self.short(x[..., :60])


CONFIGS = [
    int8_weight_only(),
    int8_weight_only(32),
    int4_weight_only(),
    int4_weight_only(symmetric=False),
]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", ["a.pt", "a.safetensors"])
def test_saved_and_loaded(config, name, tmp_path):
    taeda.manual_seed(0)
    model = Small().eval()
    quantize_(model, config, measure=False)
    index = taeda.randint(0, 50, (2, 7))
    taeda.save(model.state_dict(), tmp_path / name)
    again = load_quantized_(Small().eval(), taeda.load(tmp_path / name))
    for mine, theirs in zip(again(index), model(index), strict=True):
        assert taeda.equal(mine, theirs)
    assert type(again.inner) is type(model.inner)
    assert not again.inner.training


def test_tied_weights_are_stored_once(tmp_path):
    model = Small()
    quantize_(model, int8_weight_only(), measure=False)
    taeda.save(model.state_dict(), tmp_path / "a.pt")
    again = load_quantized_(Small(), taeda.load(tmp_path / "a.pt"))
    assert again.head.weight.data_ptr() == again.tokens.weight.data_ptr()


def test_a_float_state_is_loaded_as_ever():
    model, again = Small(), Small()
    load_quantized_(again, model.state_dict())
    assert taeda.equal(again.inner.weight, model.inner.weight)


def state(**changes):
    model = Small()
    quantize_(model, int8_weight_only(), measure=False)
    made = {**model.state_dict(), **{k.replace("__", "."): v for k, v in changes.items()}}
    return {k: v for k, v in made.items() if v is not None}


@pytest.mark.parametrize(
    ("changes", "fact"),
    [
        ({"inner__weight": None}, "inner.weight and inner.scales must both be tensors"),
        ({"inner__weight": taeda.ones(64, 64)}, "inner.weight is taeda.float32"),
        ({"inner__scales": 3}, "both be tensors, but are Tensor and int"),
        ({"inner__scales": taeda.ones(64, 3)}, r"inner does not fit.*\[64, 3\]"),
        ({"inner__weight": taeda.zeros(64, 32, dtype=taeda.int8)}, "inner does not fit.*64"),
        ({"inner__offsets": taeda.zeros(64, 1)}, "inner does not fit.*offsets are of 4 bits"),
        ({"inner__bias": None}, "Missing.*inner.bias"),
        ({"more": taeda.ones(1)}, "Unexpected.*more"),
    ],
)
def test_what_does_not_fit_is_refused(changes, fact):
    with pytest.raises(RuntimeError, match=fact):
        load_quantized_(Small(), state(**changes))


def test_a_model_is_wanted():
    with pytest.raises(TypeError, match=r"nn\.Module"):
        load_quantized_({}, {})
    with pytest.raises(TypeError, match="mapping, not int"):
        load_quantized_(Small(), 3)
    assert isinstance(load_quantized_(Small(), state()).inner, Int8Linear)
