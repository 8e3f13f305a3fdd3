"""A scripted module stands beside the one that was given, which is as it was."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda import nn

pytestmark = pytest.mark.filterwarnings(r"ignore:taeda\.jit\.script gives:UserWarning")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.tied = self.body[0]
        self.rows = [self.body[1], {"a": self.tied}]
        self.act = self.double
        self.config = {"scale": 2}

    def double(self, x):
        return x * self.config["scale"]

    def forward(self, x):
        return self.act(self.body(x))

    def __getstate__(self):
        return dict(vars(self))


@pytest.fixture
def pair():
    taeda.manual_seed(0)
    given = Net()
    before = pickle.dumps(given)
    made = taeda.jit.script(given)
    assert pickle.dumps(given) == before
    return given, made


def test_tensors_are_shared_and_modules_are_not(pair):
    given, made = pair
    assert type(made) is Net
    theirs = {id(m) for m in given.modules()}
    assert not any(id(m) in theirs for m in made.modules())
    for (name, one), (same, other) in zip(
        given.state_dict(keep_vars=True).items(),
        made.state_dict(keep_vars=True).items(),
        strict=True,
    ):
        assert name == same and one is other
    assert made.tied is made.body[0] is made.rows[1]["a"]
    assert made.rows[0] is made.body[1]
    assert made.act.__self__ is made


def test_what_is_set_in_one_is_not_seen_in_the_other(pair):
    given, made = pair
    x = taeda.ones(3, 2)
    made.eval()
    assert all(m.training for m in given.modules())
    wanted = made(x)
    given.config["scale"] = 5
    given.body[0] = nn.Linear(2, 2)
    given.register_forward_hook(lambda *_: taeda.zeros(1))
    assert taeda.equal(made(x), wanted)
    given.body[0].weight.requires_grad_(False)
    with taeda.no_grad():
        made.tied.bias.fill_(7)
    assert not taeda.equal(made(x), wanted)


def test_hooks_come_along():
    given, called = nn.Sequential(nn.Linear(1, 1)), []
    given[0].register_forward_hook(lambda *_: called.append(1))
    made = taeda.jit.script(given)
    made(taeda.ones(1, 1))
    assert called
    made[0].register_forward_hook(lambda *_: called.append(2))
    called.clear()
    given(taeda.ones(1, 1))
    assert called == [1]
