"""Two integers in a byte."""

from __future__ import annotations

import pytest

import taeda
from taeda.quantization._nibbles import packed, unpacked


@pytest.mark.parametrize("size", [(3, 5), (4,), (1,), (0, 3)])
def test_there_and_back(size):
    x = taeda.randint(0, 16, size).to(taeda.uint8)
    made = packed(x)
    assert made.numel() == (x.numel() + 1) // 2
    assert taeda.equal(unpacked(made, size), x)


def test_the_first_lies_in_the_low_half():
    assert packed(taeda.tensor([1, 2], dtype=taeda.uint8)).tolist() == [0x21]
