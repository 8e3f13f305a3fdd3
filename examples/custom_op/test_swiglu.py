"""The operator in C and in C++: values, gradients, layouts, shapes without memory, refusals; CUDA
is compiled.
"""

from __future__ import annotations

import shutil

import pytest
import swiglu

import taeda
from taeda.autograd import gradcheck


@pytest.fixture(scope="module")
def modules():
    return swiglu.build()


@pytest.fixture(params=["C", "C++"])
def op(request, modules):
    return modules[request.param].swiglu


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64], ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (64, 257)], ids=str)
def test_values(op, dtype, shape):
    gate, up = taeda.randn((2, *shape), dtype=dtype).unbind()
    taeda.testing.assert_close(op(gate, up), swiglu.formula(gate, up))


def test_transposed_and_strided(op):
    gate, up = taeda.randn(2, 64, 257).unbind()
    taeda.testing.assert_close(op(gate.t(), up.t()), swiglu.formula(gate, up).t())
    taeda.testing.assert_close(
        op(gate[::2, 1:], up[1::2, :-1]), swiglu.formula(gate[::2, 1:], up[1::2, :-1])
    )


def test_gradients(op):
    gate, up = (taeda.randn(3, 4, dtype=taeda.float64, requires_grad=True) for _ in range(2))
    assert gradcheck(op, (gate, up))
    assert gradcheck(lambda g: op(g.t(), g.t()), (gate,))


def test_it_trains(op):
    taeda.manual_seed(0)
    x, w = taeda.randn(64, 8), taeda.randn(2, 8, 8).mul_(0.3).requires_grad_()
    losses = []
    for _ in range(50):
        loss = (op(x @ w[0], x @ w[1]) - x).square().mean()
        loss.backward()
        assert w.grad is not None
        with taeda.no_grad():
            w -= 0.3 * w.grad
        w.grad = None
        losses.append(loss.item())
    assert losses[-1] < 0.8 * losses[0]


def test_without_memory(op):
    made = op(taeda.empty(2, 3, device="meta"), taeda.empty(2, 3, device="meta"))
    assert made.shape == (2, 3) and made.is_meta


def test_refusals(op):
    with pytest.raises(TypeError, match=r"float32 or float64|int64 is not supported"):
        op(taeda.ones(2, dtype=taeda.int64), taeda.ones(2, dtype=taeda.int64))
    with pytest.raises(TypeError, match="differ in dtype"):
        op(taeda.ones(2), taeda.ones(2).double())
    with pytest.raises(ValueError, match="differ in shape"):
        op(taeda.ones(2), taeda.ones(3))


@pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="compiling CUDA sources needs the CUDA toolkit"
)
def test_cuda(modules):
    module = modules["CUDA"]
    gate, up = taeda.randn(2, 1000).unbind()
    if module.available():
        taeda.testing.assert_close(module.swiglu(gate, up), swiglu.formula(gate, up))
    else:
        with pytest.raises(RuntimeError, match="needs an NVIDIA device and its driver"):
            module.swiglu(gate, up)
