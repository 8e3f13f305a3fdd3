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


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(4, 5)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def notes(call, error=RuntimeError):
    with pytest.raises(error) as caught:
        call()
    return getattr(caught.value, "__notes__", [])


def test_an_error_names_the_path_of_its_module():
    net = nn.Sequential(nn.Identity(), Head())
    assert notes(lambda: net(taeda.ones(1, 2))) == ["in module '1.layers.1' (Linear) of Sequential"]


def test_an_error_of_the_outermost_module_names_its_class():
    assert notes(lambda: nn.Linear(2, 3)(taeda.ones(1, 7))) == ["in Linear"]


def test_an_error_raised_again_elsewhere_is_named_anew():
    class Fails(nn.Module):
        def forward(self, error):
            raise error

    error = KeyError("same")
    inner = nn.Sequential(Fails())
    assert notes(lambda: inner(error), KeyError) == ["in module '0' (Fails) of Sequential"]
    assert notes(lambda: Fails()(error), KeyError) == ["in Fails"]


def test_the_message_itself_stays():
    class Fails(nn.Module):
        def forward(self):
            raise ValueError("exactly this")

    with pytest.raises(ValueError) as caught:
        nn.Sequential(Fails())[0]()
    assert str(caught.value) == "exactly this"
