"""Every op has a rule or a stated reason; the C rules equal the Python ones."""

from __future__ import annotations

import pytest

import taeda
import taeda.autograd
from taeda._C import _nn as F

FAST = {
    "add.Tensor": lambda x, y: x + y,
    "sub.Tensor": lambda x, y: x - y,
    "mul.Tensor": lambda x, y: x * y,
    "div.Tensor": lambda x, y: x / 3.0,
    "neg": lambda x, y: -x,
    "mm": lambda x, y: x @ y,
    "bmm": lambda x, y: taeda.bmm(x[None], y[None]),
    "linear": lambda x, y: F.linear(x, y, x[0]),
    "linear without bias": lambda x, y: F.linear(x, y),
    "linear of a batch": lambda x, y: F.linear(taeda.stack([x, y]), y, x[0]),
    "linear of a turned batch": lambda x, y: F.linear(taeda.stack([x, y]).transpose(0, 1), y, x[0]),
    "linear of a row": lambda x, y: F.linear(x[0], y, x[1]),
    "sum": lambda x, y: (x * y).sum(),
    "mean": lambda x, y: (x * y).mean() * 7,
    "view": lambda x, y: x.view(9) * 2,
    "reshape": lambda x, y: x.t().reshape(1, 9) * y.reshape(9),
    "reshape of a turned gradient": lambda x, y: (x.reshape(3, 3).t() * y).t(),
    "flatten.using_ints": lambda x, y: x.flatten() * 2,
    "squeeze": lambda x, y: x[:1].squeeze() * 2,
    "squeeze.dim": lambda x, y: x[:, :1].squeeze(1) * 2,
    "unsqueeze": lambda x, y: x.unsqueeze(-1) * y,
    "expand": lambda x, y: x[:, :1].expand(2, 3, 3) * y,
    "clone": lambda x, y: x.clone() * y,
    "contiguous": lambda x, y: x.t().contiguous() * y,
    "_to_copy": lambda x, y: x.float() * 2,
    "transpose.int": lambda x, y: x.transpose(-1, 0) * y,
    "t": lambda x, y: x.t() * y,
    "permute": lambda x, y: x.view(3, 1, 3).permute(2, 0, -2)[..., 0] * y,
    "a bias over several dimensions": lambda x, y: taeda.stack([y, y]) * 2 + x[0],
    "exp": lambda x, y: x.exp() * y,
    "log": lambda x, y: x.abs().log() * y,
    "relu": lambda x, y: x.relu() * y,
    "sigmoid": lambda x, y: x.sigmoid() * y,
    "tanh": lambda x, y: x.tanh() * y,
    "silu": lambda x, y: F.silu(x) * y,
    "mish": lambda x, y: F.mish(x) * y,
    "gelu": lambda x, y: F.gelu(x) * y,
    "gelu by tanh": lambda x, y: F.gelu(x, approximate="tanh") * y,
    "leaky_relu": lambda x, y: F.leaky_relu(x, 0.2) * y,
    "hardtanh": lambda x, y: F.hardtanh(x, -0.3, 0.4) * y,
    "threshold": lambda x, y: taeda.threshold(x, 0.1, 3) * y,
    "hardsigmoid": lambda x, y: F.hardsigmoid(x) * y,
    "hardswish": lambda x, y: F.hardswish(x) * y,
    "log_sigmoid": lambda x, y: F.log_sigmoid(x) * y,
}


@pytest.mark.parametrize("name", FAST)
def test_fast_rule_equals_the_python_rule(name):
    x, y = (taeda.randn(3, 3, dtype=taeda.float64, requires_grad=True) for _ in range(2))
    fast = taeda.autograd.grad(FAST[name](x, y).sum(), [x, y], allow_unused=True)
    slow = taeda.autograd.grad(FAST[name](x, y).sum(), [x, y], allow_unused=True, create_graph=True)
    for a, b in zip(fast, slow, strict=True):
        assert (a is None) == (b is None)
        assert a is None or bool((a == b.detach()).all())
