"""An error tells in which module of a model it arose."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


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
