"""Every op has a rule or a stated reason; the C rules equal the Python ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

import taeda
import taeda.autograd
from taeda._C import _nn as F
from taeda._native import core
from taeda.autograd._calls import facts
from taeda.autograd.rules import _registry

taeda.ones(1, requires_grad=True)  # the first that needs a rule loads them all

FACTORY = core.row_flags["FACTORY"]  # only shape and dtype of the arguments count


def test_every_kernel_has_a_rule_or_a_reason():
    owed = [
        name for name, _, kind, _, _, flags in core.op_rows()
        if kind != "composite" and not flags & FACTORY and not core.has_rule(name)
    ]  # fmt: skip
    assert owed == []


def test_every_way_of_a_tangent_names_an_op_with_a_rule_and_its_parameters():
    for name, found in _registry.tangents.items():
        parameters = [p for p, _ in core.op_parameters(name)]
        assert _registry.rules[name].formulas, name
        wanted = found.detail[1] if found.way == "formula" else found.detail or ()
        known = {
            *parameters,
            *(f"{p}_{fact}" for p in parameters for fact in ("t", "shape", "dtype")),
        }
        assert [p for p in wanted if p not in known and not p.startswith("result")] == [], name


def test_every_rule_gives_a_way_for_tangents():
    ways = {facts(name).way for name in _registry.rules}
    assert ways == {"linear", "multilinear", "formula", "pointwise", "transposed"}


def test_threads_that_differentiate_first_wait_for_the_rules():
    code = """if True:
        import taeda, threading
        barrier, slopes = threading.Barrier(8), []
        def work():
            barrier.wait()
            x = taeda.ones(3, requires_grad=True)
            (x * 2).mean().backward()
            slopes.append(x.grad.sum().item())
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert slopes == [2.0] * 8, slopes
    """
    subprocess.run([sys.executable, "-c", code], check=True)


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
