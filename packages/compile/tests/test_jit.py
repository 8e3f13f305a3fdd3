from __future__ import annotations

import copy
import warnings
from typing import Optional

import pytest

import taeda
from taeda import jit, nn


def plain_gelu(x, scale: float = 0.5):
    return scale * x * (1 + taeda.erf(x / 1.4142))


@pytest.fixture
def gelu(monkeypatch):
    monkeypatch.setattr(jit, "_warned", True)
    return jit.script(plain_gelu)


def test_script_gives_what_compile_gives_and_says_so_once(monkeypatch):
    monkeypatch.setattr(jit, "_warned", False)
    net = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="there is no TorchScript"):
        scripted = jit.script(net)
    assert scripted is not net
    assert scripted._compiled_call_impl is not None
    assert net._compiled_call_impl is None
    assert list(scripted.state_dict()) == ["weight", "bias"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit.script(taeda.sin) is taeda.sin
        assert jit.script(nn.Linear) is nn.Linear
    with pytest.raises(TypeError, match="got int"):
        jit.script(3)


def test_a_scripted_function_computes_derives_and_is_compiled_in_others(gelu):
    x = taeda.linspace(-1, 1, 5, requires_grad=True)
    wanted = plain_gelu(x)
    for _ in range(4):
        assert taeda.equal(gelu(x), wanted)
    (slope,) = taeda.autograd.grad(gelu(x).sum(), x)
    assert taeda.equal(slope, taeda.autograd.grad(wanted.sum(), x)[0])
    outer = taeda.compile(lambda x: gelu(x) * gelu(x, 2.0))
    for _ in range(4):
        assert taeda.equal(outer(x), wanted * plain_gelu(x, 2.0))


def test_the_code_of_a_scripted_function_is_its_source(monkeypatch):
    monkeypatch.setattr(jit, "_warned", True)

    @jit.script
    def doubled(x):
        return x * 2

    assert doubled.code == "@jit.script\ndef doubled(x):\n    return x * 2\n"
    space = {}
    exec("def typed(x): return x", space)
    assert not hasattr(jit.script(space["typed"]), "code")
    assert not hasattr(space["typed"], "code")


def test_scripted_parts_of_a_model(gelu):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.part = jit.script(nn.Linear(3, 3))
            self.act = gelu

        def forward(self, x):
            return self.act(self.part(x))

    net, x = Net(), taeda.ones(2, 3)
    wanted = plain_gelu(nn.functional.linear(x, net.part.weight, net.part.bias))
    for model in (net, copy.deepcopy(net), jit.script(net)):
        for _ in range(3):
            assert taeda.equal(model(x), wanted)


def test_decorators_let_functions_be():
    def f(x):
        return x

    assert jit.ignore(f) is jit.unused(f) is jit.export(f) is jit.script_if_tracing(f) is f
    assert jit.ignore(drop=True)(f) is f
    assert jit.annotate(int, 3) == 3
    assert not jit.is_scripting()
    assert not jit.is_tracing()


def test_isinstance_looks_inside():
    assert jit.isinstance({"a": [1]}, dict[str, list[int]])
    assert not jit.isinstance({"a": ["1"]}, dict[str, list[int]])
    assert jit.isinstance((1, "a"), tuple[int, str])
    assert not jit.isinstance((1,), tuple[int, str])
    assert jit.isinstance((1, 2, 3), tuple[int, ...])
    assert jit.isinstance(None, Optional[int])  # noqa: UP045 - the older spelling is what is tested
    assert jit.isinstance(3, (str, int))


def test_forks_bring_results_and_errors():
    made = [jit.fork(taeda.full, (2,), k) for k in range(5)]
    assert [jit.wait(m).sum().item() for m in made] == [0, 2, 4, 6, 8]
    with pytest.raises(RuntimeError):
        jit.wait(jit.fork(taeda.ones(2).view, 3))
