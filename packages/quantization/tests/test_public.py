"""The functions that stand in taeda itself."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import taeda
from taeda import overrides
from taeda.quantization import _public


class Duck:
    """No tensor, but asked for calls."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return ("asked", func)


# the first makes a tensor of sizes, and takes none
@pytest.mark.parametrize("name", sorted({*_public.__all__} - {"_empty_affine_quantized"}))
def test_who_is_asked_gets_the_function_that_was_called(name):
    function = getattr(taeda, name)
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    assert function(*[Duck()] + [1] * (len(needed) - 1)) == ("asked", function)


@pytest.mark.parametrize("name", ["quantize_per_tensor", "dequantize", "int_repr", "q_scale"])
def test_modes_see_the_function(name):
    class Seen(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            calls.append(func)
            return func(*args, **(kwargs or {}))

    calls = []
    x = taeda.quantize_per_tensor(taeda.ones(2), 0.5, 0, taeda.qint8)
    args = (taeda.ones(2), 0.5, 0, taeda.qint8) if name == "quantize_per_tensor" else (x,)
    with Seen():
        getattr(taeda, name)(*args)
    assert calls[0] is getattr(taeda, name)


def test_they_are_those_of_the_package():
    for name in _public.__all__:
        assert getattr(taeda, name) is getattr(_public, name)


def test_importing_taeda_brings_none_of_it():
    ours = "('taeda.quantization', 'taeda.ao')"
    code = f"import sys, taeda; assert not [m for m in sys.modules if m.startswith({ours})]"
    subprocess.run([sys.executable, "-c", code], check=True)
