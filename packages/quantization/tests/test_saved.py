"""Quantized tensors in files, pickles and copies."""

from __future__ import annotations

import copy
import io
import pickle

import pytest
from quantized_tensors import every, numbers

import taeda
from taeda.quantization._saved import from_saved

KINDS = every()


@pytest.mark.parametrize("format", ["safetensors", "pt"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_gives_the_same_tensor(kind, format):
    file = io.BytesIO()
    x = KINDS[kind]
    taeda.save(
        {"x": x, "turned": x.t() if kind != "nibbles" else x, "dtype": x.dtype}, file, format=format
    )
    file.seek(0)
    found = taeda.load(file)
    assert taeda.equal(found["x"], x)
    assert found["dtype"] is x.dtype
    assert taeda.equal(
        found["turned"].dequantize(), x.dequantize().t() if kind != "nibbles" else x.dequantize()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_pickles_and_copies(kind):
    x = KINDS[kind]
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert taeda.equal(made, x)
        assert made.qscheme() is x.qscheme()


def test_what_a_file_claims_is_checked():
    parts, facts = taeda._native.core.parts_of(numbers(2, 3)).saved()
    assert taeda.equal(from_saved(parts, facts), numbers(2, 3))
    word, scheme, scale, zero, *size = facts
    wrong = [
        (parts, (word, scheme, 0.0, zero, *size)), (parts, (word, scheme, scale, 300, *size)),
        (parts, (word, scheme, "1", zero, *size)), (parts, ("float32", scheme, scale, zero, *size)),
        (parts, (word, scheme, scale, zero, 7)), ([parts[0].float()], facts), ([], facts),
        (parts, (word, scheme, scale, zero, -1)), ([*parts, parts[0]], facts), (parts, (word,)),
        (parts, ("quint4x2", scheme, scale, 1, *size)), (parts, ("quint2x4", scheme, scale, 1, *size)),
    ]  # fmt: skip
    for some, said in wrong:
        with pytest.raises((ValueError, RuntimeError)):
            from_saved(some, said)
