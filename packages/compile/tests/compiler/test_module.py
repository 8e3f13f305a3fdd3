"""A compiled module has the state of its original."""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import compiler, nn


def model():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))


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


def test_a_module_that_stays_as_it_is_goes_to_the_original_at_once():
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    compiled, x = taeda.compile(first), taeda.ones(1, 2)
    compiled._compiled.off = True
    assert compiled.__dict__["forward"] is first and compiled(x).equal(first(x))
    assert copy.deepcopy(compiled)(x).equal(first(x))
    compiled._orig_mod = second
    assert compiled(x).equal(second(x))
    compiled._compiled.off = False
    assert "forward" not in compiled.__dict__
