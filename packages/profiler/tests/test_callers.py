"""Who asked for an operation: a line of the program, or what the library does for one."""

import pytest

import taeda
from taeda.profiler._wastes import Waste
from taeda.profiler._watch import Watch

nn = pytest.importorskip("taeda.nn", reason="layers stand between")
F = nn.functional

X = taeda.ones(2, 4, 4)

#: what the program calls, and whether it asks for the operations itself
CALLS = {
    "an operator": (lambda: X + X, True),
    "a method": (lambda: X.sum(), True),
    "an index": (lambda: X[0], True),
    "a function": (lambda: taeda.cat([X, X]), True),
    "a function of several operations": (lambda: taeda.linalg.norm(X), True),
    "a function of nn": (lambda: F.softmax(X, -1), True),
    "a layer": (lambda: nn.Linear(4, 4)(X), False),
    "a layer that is made": (lambda: nn.Linear(4, 4), False),
    "attention": (lambda: nn.MultiheadAttention(4, 1)(X, X, X), False),
    "a helper": (lambda: nn.utils.clip_grad_norm_([X.clone().requires_grad_()], 1.0), None),
}


class Spy(Waste):
    """Keeps what it hears."""

    def __init__(self, run):
        super().__init__(run)
        self.calls, self.modules = [], []

    def operation(self, call):
        self.calls.append(call)

    def called(self, module, args, place):
        self.modules.append((module, place.rpartition(":")[0]))


def heard(run):
    """What a watch hears while `run` runs."""
    watch = Watch()
    spy = Spy(watch.run)
    watch.wastes = [spy]
    with watch.watching_program():
        run()
    return spy


@pytest.mark.parametrize("call", CALLS)
def test_the_line_is_this_and_layers_are_not_the_program(call):
    run, own = CALLS[call]
    found = heard(run).calls
    assert found and all(one.place.startswith(f"{__file__}:") for one in found)
    assert not any(one.backward for one in found)
    if own is not None:
        assert {one.own for one in found} == {own}


@pytest.mark.parametrize("how", ["backward", "grad"])
def test_operations_of_a_backward_pass(how):
    x = taeda.ones(3, requires_grad=True)
    y = (x * x).sum()
    run = y.backward if how == "backward" else lambda: taeda.autograd.grad(y, x)
    found = heard(run).calls
    assert found and all(one.backward and not one.own for one in found)


def test_a_module_is_called_by_a_line_or_by_another_module():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    def run():
        model(X)
        model[0](X)

    assert heard(run).modules == [(model, __file__), (model[0], __file__)]
