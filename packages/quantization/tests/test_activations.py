"""Functions of one number on integers."""

from __future__ import annotations

from quantized_tensors import numbers

import taeda
from taeda.quantization._activations import mapped, normalised


def test_many_numbers_and_few_are_the_same():
    x = numbers(80, 40)
    whole = mapped(x, "exp", taeda.exp, 0.1, 3)
    rows = [mapped(row, "exp", taeda.exp, 0.1, 3) for row in x]
    assert all(taeda.equal(whole[n], row) for n, row in enumerate(rows))


def test_the_scale_of_the_input_is_kept_unless_another_is_given():
    x = numbers(4)
    assert mapped(x, "neg", taeda.neg).q_scale() == x.q_scale()
    made = normalised(x, "softmax", lambda v: v.softmax(0), 1 / 256, 0)
    assert abs(float(made.dequantize().sum()) - 1) < 4 / 256
