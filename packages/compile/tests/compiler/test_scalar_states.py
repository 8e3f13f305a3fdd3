"""Optimizers of somebody else, with numbers and tensors of one element in their state and groups."""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import nn
from taeda.compiler._graph.bits import same

optim = pytest.importorskip("taeda.optim")  # which compile does not need


class Momentum(optim.Optimizer):
    """State by parameter, a step that counts in a tensor."""

    def __init__(self, params, lr=0.1):
        super().__init__(params, {"lr": lr})

    @taeda.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"], state["mean"] = taeda.zeros(()), taeda.zeros_like(p)
                state["step"].add_(1)
                state["mean"].mul_(0.9).add_(p.grad)
                p.addcdiv_(state["mean"], state["step"].sqrt(), value=-group["lr"])


class Distance(optim.Optimizer):
    """Steps of a length that follows from the way so far: a tensor in the group, a read, numbers that
    change from step to step, a history for each group.
    """

    def __init__(self, params, lr=5.0):
        super().__init__(params, {"lr": lr, "d": 0.01, "most": 0.01, "step": 0})
        for group in self.param_groups:
            group["history"] = []

    @taeda.no_grad()
    def step(self, closure=None):
        first = self.param_groups[0]
        length = first["d"] * first["lr"]
        total = first.setdefault("total", taeda.zeros(1)).mul_(0.97)
        below = taeda.zeros(1)
        for group in self.param_groups:
            group["step"] += 1
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["start"] = p.clone()
                    state["sum"], state["mean"] = taeda.zeros_like(p), taeda.zeros_like(p)
                way = taeda.dot(p.grad.flatten(), (state["start"] - p).flatten())
                total.add_(way, alpha=length)
                state["sum"].mul_(0.97).add_(p.grad, alpha=length)
                state["mean"].mul_(0.9).add_(p.grad, alpha=first["d"] * 0.1)
                below.add_(state["sum"].abs().sum())
        if below == 0:
            return
        found = (total / below).item()
        most = max(first["most"], found)
        d = min(most, first["d"] * 1.02)
        for group in self.param_groups:
            group["d"], group["most"], group["total"] = d, most, total
            group["history"].append(found)
            for p in group["params"]:
                p.add_(self.state[p]["mean"], alpha=-length)


def _training(kind, groups, compiled):
    taeda.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
    layers = [model[0], model[2]]
    optimizer = kind([{"params": x.parameters()} for x in layers] if groups else model.parameters())

    def gradients(x):
        optimizer.zero_grad()
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        loss.backward()
        return loss

    if "gradients" in compiled:
        gradients = taeda.compile(gradients)
    update = taeda.compile(optimizer.step) if "step" in compiled else optimizer.step

    def both(x):
        loss = gradients(x)
        update()
        return loss

    return model, optimizer, taeda.compile(both) if "both" in compiled else both


def _state(model, optimizer):
    held = [
        [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups],
        [dict(optimizer.state[p]) for p in model.parameters()],
    ]
    tensors = [p.detach() for p in model.parameters()]
    return copy.deepcopy((held, tensors, [p._version for p in model.parameters()]))


@pytest.mark.parametrize("compiled", ["both", "step", "gradients", "gradients step"])
@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize("kind", [Momentum, Distance])
def test_compiled_steps_are_the_eager_ones_in_every_bit(kind, groups, compiled):
    runs = []
    for what in ("", compiled):
        model, optimizer, step = _training(kind, groups, what)
        seen = []
        for number in range(35):
            loss = step(taeda.randn(4, 2))
            seen.append((loss.item(), _state(model, optimizer)))
            if number == 20:
                optimizer.param_groups[0]["lr"] *= 0.5
            if number == 25:
                optimizer.load_state_dict(optimizer.state_dict())
        runs.append(seen)
    for one, other in zip(*runs, strict=True):
        assert same(one, other)


def test_an_optimizer_with_state_by_parameter_is_one_graph():
    _model, _, step = _training(Momentum, True, "")
    step(taeda.randn(4, 2))  # its state is there
    fast = taeda.compile(step, fullgraph=True)
    for _ in range(4):
        fast(taeda.randn(4, 2))
    assert taeda.compiler.explain(fast)(taeda.randn(4, 2)).graph_count == 1


@pytest.mark.parametrize("name", ["_foreach_mul", "_foreach_div", "_foreach_mul_", "_foreach_div_"])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64, taeda.bfloat16])
def test_lists_with_a_tensor_of_no_dimension_are_in_the_graph(name, dtype):
    """A rate in a tensor, which changes from call to call and is no number of the graph."""

    def f(tensors, rate):
        made = getattr(taeda, name)(tensors, rate)
        return [t + 1 for t in (tensors if made is None else made)]

    seen = []

    def backend(module, examples):
        seen.append(module)
        return module

    for other in (None, backend):
        fast = taeda.compile(f, fullgraph=True, **({} if other is None else {"backend": other}))
        for number in range(1, 14):
            given = [taeda.rand(3).to(dtype), taeda.rand(2, 2).to(dtype)]
            rate = taeda.tensor(0.7 * number, dtype=dtype)
            copies = [t.clone() for t in given]
            assert same(fast(given, rate), f(copies, rate))
            assert same(given, copies)
    assert len(seen) == 1
