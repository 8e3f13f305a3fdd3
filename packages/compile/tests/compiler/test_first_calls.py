"""The first call of a compiled function, which records it, gives the bits of the function itself, and so do
others. Functions of every family are asked: those that a program writes for ONNX.
"""

from __future__ import annotations

import warnings

import pytest
from onnx_samples import SAMPLES

import taeda
from taeda._core_api.trees import leaves


def bits(result):
    found = [leaf for leaf in leaves(result) if isinstance(leaf, taeda.Tensor)]
    return [(t.dtype, t.shape, t.detach().numpy().tobytes()) for t in found]


@pytest.mark.parametrize("name", SAMPLES)
def test_first_calls_have_the_bits_of_the_function(name):
    function, inputs = SAMPLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = bits(function(*inputs))
        compiled = taeda.compile(function)
        assert [bits(compiled(*inputs)) for _ in range(2)] == [wanted, wanted]
