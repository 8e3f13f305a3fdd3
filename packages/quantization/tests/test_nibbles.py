"""Two or four integers in a byte."""

from __future__ import annotations

import pytest

import taeda
from taeda.quantization._nibbles import bytes_of, packed, unpacked


@pytest.mark.parametrize("bits", [2, 4])
@pytest.mark.parametrize("size", [(3, 5), (4,), (1,), (0, 3)])
def test_there_and_back(size, bits):
    x = taeda.randint(0, 2**bits, size).to(taeda.uint8)
    made = packed(x, bits)
    assert made.numel() == bytes_of(x.numel(), bits) == -(-x.numel() * bits // 8)
    assert taeda.equal(unpacked(made, size, bits), x)


def test_the_first_lies_in_the_lowest_bits():
    assert packed(taeda.tensor([1, 2], dtype=taeda.uint8), 4).tolist() == [0x21]
    assert packed(taeda.tensor([1, 2, 3, 0, 1], dtype=taeda.uint8), 2).tolist() == [0b00111001, 1]
