"""Results that are computed from each other: their edges, hooks and gradients are the program's."""

from __future__ import annotations

import itertools
import random

import pytest

import taeda
from taeda import nn
from taeda.compiler._replay.groups import groups


def warm(f, *args):
    """The function, compiled, and its one trace; None if it has no graph."""
    compiled = taeda.compile(f, backend="aot_eager")
    for _ in range(3):
        compiled(*args)
    traces = [t for some in compiled.__taeda_compiled__.traces.values() for t in some]
    assert all(t.trusted for t in traces)
    return compiled, traces[0] if traces else None


def random_program(seed):
    """(a program of two weights that returns some of what it computes, its weights)"""
    rng = random.Random(seed)
    taeda.manual_seed(seed)
    weights = [taeda.randn(4, requires_grad=True) for _ in range(2)]
    count = rng.randint(2, 7)
    plan = [(rng.choice("mas"), rng.randrange(9), rng.randrange(9)) for _ in range(count)]
    kept = sorted({count - 1, *rng.sample(range(count), rng.randint(1, min(3, count - 1)))})

    def program(x):
        values = [x, *weights]
        for kind, a, b in plan:
            first, second = values[-1 - a % len(values)], values[b % len(values)]
            if kind == "m":
                values.append(first * second)
            elif kind == "a":
                values.append(first.tanh() + second)
            else:
                values.append(first.sin() * 2)
        return tuple(value for n, value in enumerate(values[3:]) if n in kept)

    return program, weights


def told(results, chosen, weights, *, create_graph):
    """What a backward of the chosen results leaves behind, and what hooks of all of them see."""
    seen = []
    for weight in weights:
        weight.grad = None
    for place, result in enumerate(results):
        if result.requires_grad:
            result.retain_grad()
            result.register_hook(
                lambda g, place=place: (seen.append((place, g.tolist())), g * 3)[1]
            )
    start = [
        r.sin().sum() for r, one in zip(results, chosen, strict=True) if one and r.requires_grad
    ]
    if not start:
        return [], []
    total = sum(start[1:], start[0])
    total.backward(retain_graph=True, create_graph=create_graph)
    ends = [*weights, *(r for r in results if r.requires_grad)]
    found = [end.grad for end in ends]
    if create_graph:
        first = [g.square().sum() for g in found if g is not None and g.requires_grad]
        if first:
            found += taeda.autograd.grad(
                sum(first[1:], first[0]), ends, allow_unused=True, retain_graph=True
            )
    else:
        total.backward()
        found += [end.grad for end in ends]
    return found, sorted(seen)


def alike(a, b, *, exactly):
    if a is None or b is None:
        return a is b
    return a.equal(b) if exactly else taeda.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True)


def test_random_programs_give_what_eager_gives_whichever_result_is_walked():
    chained = 0
    for seed in range(80):
        program, weights = random_program(seed)
        x = taeda.randn(4)
        compiled, trace = warm(program, x)
        chained += (
            trace is not None and trace.backward is not None and len(trace.backward.groups) > 1
        )
        ways = [c for c in itertools.product((0, 1), repeat=len(program(x))) if any(c)]
        for chosen, create_graph in itertools.product(ways, (False, True)):
            eager, hooked = told(program(x), chosen, weights, create_graph=create_graph)
            found, seen = told(compiled(x), chosen, weights, create_graph=create_graph)
            exactly = not create_graph
            said = (seed, chosen, create_graph)
            assert len(found) == len(eager), said
            assert all(alike(a, b, exactly=exactly) for a, b in zip(eager, found, strict=True)), (
                said
            )
            assert create_graph or seen == hooked, said
    assert chained >= 15, chained  # else nothing was tested


class Model(nn.Module):
    """A small language model, which gives its hidden states, its logits and its loss."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens, targets):
        states = [self.embedding(tokens)]
        for block in self.blocks:
            states.append(states[-1] + block(states[-1]).tanh())
        logits = self.head(states[-1])
        loss = nn.functional.cross_entropy(logits.view(-1, 11), targets.view(-1))
        return {"loss": loss, "logits": logits, "states": states}


@pytest.mark.parametrize("names", [("loss",), ("logits",), ("loss", "logits")])
def test_a_model_that_gives_states_logits_and_loss(names):
    def train(compiled):
        taeda.manual_seed(0)
        model = Model()
        run = taeda.compile(model, backend="aot_eager") if compiled else model
        optimizer = taeda.optim.AdamW(model.parameters(), lr=0.01)
        found = []
        for _ in range(6):
            made = run(taeda.randint(0, 11, (2, 5)), taeda.randint(0, 11, (2, 5)))
            made["states"][1].retain_grad()
            value = sum(made[name].square().mean() for name in names)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            found += [value.detach(), made["states"][1].grad]
        return found, list(model.parameters()), run

    expected, weights, _ = train(False)
    found, after, run = train(True)
    assert all(a.equal(b) for a, b in zip([*expected, *weights], [*found, *after], strict=True))
    (traces,) = run._compiled.traces.values()
    assert [(t.trusted, len(t.backward.groups)) for t in traces] == [(True, 6)]


def test_a_gradient_goes_from_one_result_to_another():
    w = taeda.randn(4, requires_grad=True)

    def program(x):
        y = x * w
        return y, y.square().sum()

    compiled, trace = warm(program, taeda.randn(4))
    assert [(g.places, g.earlier) for g in trace.backward.groups] == [([0], []), ([1], [0])]
    y, loss = compiled(taeda.ones(4))
    (found,) = taeda.autograd.grad(loss, y, retain_graph=True)
    assert found.equal(2 * w)
    y.register_hook(lambda g: g * 10)
    loss.backward(inputs=[w])
    assert w.grad.equal(20 * w)
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_result_may_be_written_before_its_gradient_is_differentiated():
    w = taeda.randn(4, requires_grad=True)

    def program(x):
        y = (x * w).sin()
        return y, (y + 1).exp().sum()

    compiled, _ = warm(program, taeda.randn(4))
    found = []
    for call in (program, compiled):
        y, loss = call(taeda.ones(4))
        y.mul_(2)
        (first,) = taeda.autograd.grad(loss, w, create_graph=True)
        found.append(taeda.autograd.grad(first.sum(), w)[0])
    assert taeda.allclose(*found)


def test_what_two_results_share_behind_them_has_no_groups():
    w = taeda.ones(4, requires_grad=True)
    hidden = w * 2
    y = hidden.sin()
    assert groups([y, (y * hidden).sum()], [w]) is None
    assert [g.places for g in groups([y, y.sum()], [w])] == [[0], [1]]


def test_sums_in_another_order_have_no_groups():
    w = taeda.ones(4, requires_grad=True)
    early = w * 2  # its node is older than that of the result, yet it is of the second group
    y = w.sin()
    assert groups([y, y * early], [w]) is None
    late = w * 2
    assert [g.places for g in groups([y, y * late], [w])] == [[0], [1]]


def test_one_edge_twice_has_no_groups():
    w = taeda.ones(4, requires_grad=True)
    y = w * 2
    assert groups([y, y], [w]) is None
