from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._observe import Observer, here
from taeda.compiler._watched import observed


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.ReLU()

    def forward(self, x):
        if x.dim() == 0:
            raise ValueError("no dimension")
        return self.inner(x) * 2


def watched(net, x):
    observer = Observer(strict=False)
    observer.recorder.add_input("argument", 0, x)
    return observer, observed(observer, net, (x,), {})


def test_forward_of_the_program_is_copied_and_of_the_library_runs_as_it_is():
    net = Twice()
    observer, result = watched(net, taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    assert {id(net), id(net.inner)} <= set(observer.guards.modules)


def test_hooks_end_the_recording():
    net = Twice()
    net.inner.register_forward_hook(lambda *args: None)
    observer, result = watched(net, taeda.ones(1))
    assert (observer.reason, result.item()) == ("ReLU has hooks", 2)


def test_an_error_says_which_module_raised_it():
    net = nn.Sequential(Twice())
    with pytest.raises(ValueError, match="no dimension") as caught:
        watched(net, taeda.tensor(1.0))
    assert any("Twice" in note for note in caught.value.__notes__)
    assert here.get() is None
