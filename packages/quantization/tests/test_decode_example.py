"""examples/quantize_gpt at a small size: its cache, its files, its table."""

from __future__ import annotations

import pytest
from by_path import load

import taeda


@pytest.fixture(scope="module")
def decode():
    return load("examples/quantize_gpt/decode.py")


def config(decode):
    return decode.Config(vocabulary=100, context=32, layers=2, heads=2, width=64)


def test_tokens_behind_the_cache_are_those_of_the_whole_text(decode):
    taeda.manual_seed(0)
    model = decode.GPT(config(decode)).eval()
    codes = taeda.arange(10)
    one_by_one = model.scores(codes, taeda.float32)
    with taeda.no_grad():
        at_once = model(codes.view(1, -1), decode.Cache(model.config, taeda.float32))
    assert taeda.allclose(one_by_one[-1:], at_once, atol=1e-5)


def test_every_form_is_saved_loaded_and_decoded(decode, monkeypatch, capsys):
    """Packed whatever is faster here: at this size that would be chance."""
    from taeda.quantization import int4_weight_only, int8_weight_only, quantize_

    for name, choice in (("int8", int8_weight_only(32)), ("int4", int4_weight_only(32))):
        packed = (
            lambda model, choice=choice: quantize_(model, choice, measure=False),
            taeda.float32,
        )
        monkeypatch.setitem(decode.FORMS, name, packed)
    facts = decode.compare(config(decode), 2, 1)
    assert list(facts) == ["float32", "bfloat16", "int8", "int4"]
    assert facts["float32"]["error"] == 0
    assert 0 < facts["int8"]["error"] < 0.05 < facts["int4"]["error"] < 0.5
    sizes = [row["megabytes"] for row in facts.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert "head (tokens)" in capsys.readouterr().out
