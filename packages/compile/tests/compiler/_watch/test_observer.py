from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._call.watched import observed
from taeda.compiler._watch.observer import Observer, here
from taeda.nn.utils import parametrizations, parametrize


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


class Scaled(nn.Module):
    def __init__(self, by):
        super().__init__()
        self.by = by

    def forward(self, x):
        return x * self.by


def parametrized(kind):
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
    if kind == "weight_norm":
        parametrizations.weight_norm(net[0])
        parametrizations.weight_norm(net[2], dim=None)
    elif kind == "spectral_norm":
        parametrizations.spectral_norm(net[0])
    elif kind == "orthogonal":
        parametrizations.orthogonal(net[2])
    else:
        parametrize.register_parametrization(net[0], "weight", Scaled(2.0))
    return net


def change(net, call, kind):
    """Between calls: eval(), a number of a parametrization, one more, none."""
    if call == 4:
        net.eval()
    if kind != "own":
        return
    if call == 5:
        net[0].parametrizations.weight[0].by = 3.0
    if call == 7:
        parametrize.register_parametrization(net[0], "weight", Scaled(0.5))
    if call == 9:
        parametrize.remove_parametrizations(net[0], "weight")


@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm", "orthogonal", "own"])
@pytest.mark.parametrize("whole", [True, False])
def test_training_of_parametrized_modules_is_a_graph(kind, whole):
    found = []
    for compiled in (False, True):
        net = parametrized(kind)
        run = taeda.compile(net, backend="aot_eager") if compiled and not whole else net

        def step(x, net=net, run=run):
            net.zero_grad()
            loss = run(x).square().mean()
            loss.backward()
            with taeda.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
            return loss.detach()

        if compiled and whole:
            step = taeda.compile(step, backend="aot_eager")
        taeda.manual_seed(1)
        losses = []
        for call in range(11):
            change(net, call, kind)
            losses.append(step(taeda.randn(5, 4)))
        found.append([*losses, *net.parameters(), *net.buffers()])
    assert all(a.equal(b) for a, b in zip(*found, strict=True))
    state = step.__taeda_compiled__ if whole else run._compiled
    trusted = sum(t.trusted for traces in state.traces.values() for t in traces)
    assert trusted == (4 if kind == "own" else 2), state.reasons


class OwnLinear(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2 + self.weight.sum()


LAYERS = {
    "conv": (lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), (2, 1, 5, 5), "weight"),
    "transposed": (lambda: nn.ConvTranspose2d(1, 2, 3), (2, 1, 5, 5), "weight"),
    "lstm": (lambda: nn.LSTM(3, 4), (5, 2, 3), "weight_hh_l0"),
    "cell": (lambda: nn.GRUCell(3, 4), (2, 3), "weight_hh"),
    "own": (lambda: OwnLinear(4, 4), (3, 4), "weight"),
    "norm": (lambda: nn.BatchNorm1d(4), (3, 4), "weight"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_methods_of_layers_read_parametrized_tensors(name):
    make, shape, tensor = LAYERS[name]
    net = make()
    parametrize.register_parametrization(net, tensor, Scaled(1.5))

    def program(x):
        made = net(x)
        return made[0] if isinstance(made, tuple) else made

    compiled = taeda.compile(program, backend="aot_eager")
    for call in range(5):
        if call == 3:
            net.parametrizations[tensor][0].by = 0.5
        x, before = taeda.randn(shape), [b.clone() for b in net.buffers()]
        found = []
        for run in (program, compiled):
            for buffer, value in zip(net.buffers(), before, strict=True):
                buffer.copy_(value)
            net.zero_grad()
            made = run(x)
            made.square().sum().backward()
            found.append([made, *(p.grad for p in net.parameters()), *net.buffers()])
        assert all(a.equal(b) for a, b in zip(*found, strict=True))
    traces = compiled.__taeda_compiled__.traces.values()
    assert sum(t.trusted for some in traces for t in some) == 2
