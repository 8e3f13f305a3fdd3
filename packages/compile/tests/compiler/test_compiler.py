from __future__ import annotations

import copy

import pytest

import taeda
from taeda import compiler, nn


def model():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


def losses(compiled: bool) -> list[float]:
    net = model()
    run = taeda.compile(net) if compiled else net
    optimizer = taeda.optim.SGD(run.parameters(), lr=0.1, momentum=0.9)
    found = []
    for _ in range(4):
        x = taeda.randn(8, 3)
        loss = run(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_training_gives_the_same_bits():
    assert losses(True) == losses(False)


def test_a_module_shares_its_state_under_a_prefix():
    net = model()
    made = taeda.compile(net, dynamic=True, mode="max-autotune")
    assert list(made.state_dict()) == [f"_orig_mod.{name}" for name in net.state_dict()]
    assert made._orig_mod is net
    assert made[0] is net[0] if hasattr(type(made), "__getitem__") else True
    made.eval()
    assert not net.training
    assert not net[1].training
    made.note = 3
    assert net.note == 3
    assert made.note == 3
    del made.note
    assert not hasattr(net, "note")
    assert compiler.disable(made) is net
    other = copy.deepcopy(made)
    assert other._orig_mod is not net
    x = taeda.randn(2, 3)
    assert other(x).equal(net(x))
    with pytest.raises(AttributeError, match="nothing"):
        made.nothing


def test_functions_and_decorators():
    def f(x):
        return x + 1

    assert taeda.compile(f) is f
    assert taeda.compile(backend="eager")(f) is f
    assert taeda.compile(f, backend="no such", disable=True) is f
    assert compiler.disable()(f) is f
    assert compiler.compile is taeda.compile
    compiler.reset()
    assert not compiler.is_compiling()


def test_refusals():
    with pytest.raises(compiler.InvalidBackend, match="Invalid backend: 'inductor'"):
        taeda.compile(taeda.sin, backend="inductor")
    with pytest.raises(NotImplementedError, match="given a graph"):
        taeda.compile(taeda.sin, backend=lambda gm, inputs: gm)
    with pytest.raises(NotImplementedError, match="fullgraph=True"):
        taeda.compile(taeda.sin, fullgraph=True)
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        taeda.compile(taeda.sin, mode="fast")
    with pytest.raises(RuntimeError, match="Unexpected optimization option"):
        taeda.compile(taeda.sin, options={"x": 1})
    with pytest.raises(TypeError, match="wanted a function or a module"):
        taeda.compile(3)
