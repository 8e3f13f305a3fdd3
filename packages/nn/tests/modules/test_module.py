"""Calls, modes and texts of modules."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def test_a_call_runs_forward_with_all_arguments():
    class Echo(nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    assert Echo()(1, 2, k=3) == ((1, 2), {"k": 3})


def test_forward_is_required():
    with pytest.raises(
        NotImplementedError, match=r'Module \[Module\] is missing the required "forward"'
    ):
        nn.Module()(1)


def test_modes_reach_all_below():
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Dropout()))
    assert net.eval() is net
    assert [module.training for module in net.modules()] == [False] * 4
    net.train()
    assert net[1][0].training


@pytest.mark.parametrize("mode", [1, 0, None, "yes"])
def test_train_wants_a_bool(mode):
    with pytest.raises(ValueError, match="expected to be boolean"):
        nn.Linear(1, 1).train(mode)


def test_apply_visits_children_first():
    seen = []
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU()))
    assert net.apply(lambda module: seen.append(type(module).__name__)) is net
    assert seen == ["Linear", "ReLU", "Sequential", "Sequential"]


def test_requires_grad_and_zero_grad():
    net = nn.Linear(2, 1)
    net(taeda.ones(1, 2)).backward()
    net.zero_grad(set_to_none=False)
    assert net.weight.grad.tolist() == [[0, 0]]
    net.zero_grad()
    assert net.weight.grad is None
    assert net.requires_grad_(False) is net
    assert not net.weight.requires_grad


def test_text():
    net = nn.Sequential(nn.Linear(2, 3, bias=False), nn.Sequential(nn.ReLU()), nn.Sequential())
    assert repr(net) == (
        "Sequential(\n"
        "  (0): Linear(in_features=2, out_features=3, bias=False)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "  )\n"
        "  (2): Sequential()\n"
        ")"
    )


def test_text_with_extra_and_children():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.child = nn.ReLU()

        def extra_repr(self):
            return "size=3"

    assert repr(Both()) == "Both(\n  size=3\n  (child): ReLU()\n)"


# ---- where an error arose ----
