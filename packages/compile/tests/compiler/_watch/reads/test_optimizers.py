from __future__ import annotations

import pytest

import taeda
from taeda.compiler._watch.reads.optimizers import is_optimizer


def stepped(**options):
    p = taeda.ones(2, requires_grad=True)
    p.grad = taeda.ones(2)
    return p, taeda.optim.SGD([p], lr=0.5, **options)


@pytest.mark.parametrize("option", ["momentum", "weight_decay"])
def test_options_are_guarded(watch, option):
    _, optimizer = stepped(momentum=0.5, weight_decay=0.5)
    observer, _ = watch(lambda: optimizer.step())
    assert observer.active, observer.reason
    observer.rates_settled()
    holds, _ = observer.guards.compiled()
    optimizer.param_groups[0][option] = 0.25
    assert not holds()


def test_hooks_end_it(watch):
    _, optimizer = stepped()
    optimizer.register_step_pre_hook(lambda *args: None)
    observer, _ = watch(lambda: optimizer.step())
    assert "hooks" in observer.reason


def test_other_methods_end_it(watch):
    p, optimizer = stepped()
    observer, _ = watch(lambda: optimizer.state_dict())
    assert observer.reason == "it calls Optimizer.state_dict"
    assert is_optimizer(optimizer)
    assert not is_optimizer(p)


STEPS = {
    "Adadelta": {"lr": 0.5}, "Adagrad": {}, "Adam": {}, "AdamW": {"amsgrad": True},
    "RMSprop": {"momentum": 0.5, "centered": True}, "Rprop": {}, "SGD": {"momentum": 0.9, "lr": 0.1},
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_a_graph_with_the_bits_of_eager(name):
    found = []
    for compiled in (False, True):
        taeda.manual_seed(0)
        net = taeda.nn.Linear(3, 2)
        optimizer = getattr(taeda.optim, name)(net.parameters(), **STEPS[name])

        def step(x, net=net, optimizer=optimizer):
            optimizer.zero_grad()
            loss = net(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        run = taeda.compile(step, backend="aot_eager") if compiled else step
        losses = [run(taeda.randn(4, 3)) for _ in range(6)]
        states = [v for s in optimizer.state.values() for v in s.values()]
        found.append([*losses, *net.parameters(), *states])
    for a, b in zip(*found, strict=True):
        assert a.equal(b) if isinstance(a, taeda.Tensor) else a == b
    traces = run.__taeda_compiled__.traces.values()
    assert any(t.trusted for some in traces for t in some), run.__taeda_compiled__.reasons
