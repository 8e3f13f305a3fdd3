"""A recorded run that is run again: its rehearsal, its results, its graph."""

from __future__ import annotations

import contextlib

import pytest

import taeda
from taeda import nn
from taeda.compiler._call.alike import same
from taeda.compiler._graph.steps import layout_of, overlap


def trusted(compiled):
    traces = compiled.__taeda_compiled__.traces.values()
    return any(t.trusted for found in traces for t in found)


def test_a_graph_of_other_bits_is_not_trusted(monkeypatch):
    from taeda.compiler._replay.trace import Trace

    plain = Trace.rehearse

    def other(self, tensors):
        result, *rest = plain(self, tensors)
        return result + 1e-3, *rest

    monkeypatch.setattr(Trace, "rehearse", other)
    f = taeda.compile(lambda x: x * 2)
    assert all(f(taeda.ones(1)).item() == 2 for _ in range(4))
    assert not f.__taeda_compiled__.traces[next(iter(f.__taeda_compiled__.traces))]
    assert "other bits" in f.__taeda_compiled__.reasons[0]


def test_a_result_whose_graph_was_used_up_says_so():
    w = taeda.ones(2, requires_grad=True)

    @taeda.compile
    def step(x):
        loss = (w * w * x).sum()
        loss.backward()
        return loss

    for _ in range(4):
        loss = step(taeda.ones(2))
    assert loss.requires_grad
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()
    assert w.grad.tolist() == [8, 8]


def test_a_rehearsal_that_fails_does_no_harm(monkeypatch):
    from taeda.compiler._replay.trace import Trace

    def fail(self, tensors):
        raise RuntimeError("not today")

    monkeypatch.setattr(Trace, "rehearse", fail)
    f = taeda.compile(lambda x: x * 2)
    assert all(f(taeda.ones(1)).item() == 2 for _ in range(4))
    assert f.__taeda_compiled__.reasons == ["a rehearsal of its graph fails: not today"]


KEPT: list = []


@pytest.mark.parametrize("kind", [list, dict])
def test_a_container_comes_back_as_the_object_it_is(kind):
    def same(c, x):
        return c, x + 1

    def kept(x):
        return KEPT, x * 2

    def twice(x):
        made = kind({0: x + 1})
        return made, made

    x = taeda.ones(3)
    given = kind({0: x})
    f, g, h = (taeda.compile(one, backend="aot_eager") for one in (same, kept, twice))
    for _ in range(5):
        assert f(given, x)[0] is given
        assert g(x)[0] is KEPT
        first, second = h(x)
        assert first is second


def step_of(net, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def states_of(compiled):
    """All that a program can see after each step, of which two fail."""
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Dropout(0.5), nn.Linear(6, 4))
    step = step_of(net, taeda.optim.Adam(net.parameters(), lr=0.1))
    run = taeda.compile(step, backend="aot_eager") if compiled else step
    found = []
    for n in range(8):
        x, y = taeda.randn(5, 6), taeda.arange(5) % 4
        try:
            found.append(run(x, y + 3 * (n in (4, 6))).item())
        except IndexError as error:
            found.append(str(error))
        found.append([None if p.grad is None else p.grad.clone() for p in net.parameters()])
        found.append([v.clone() for v in net.state_dict().values()])
        found.append(taeda.default_generator.get_state())
        found.append([t._version for t in (*net.parameters(), *net.buffers())])
    return found


def test_a_step_that_fails_in_the_middle_leaves_what_the_program_leaves():
    """Gradients cleared, statistics written, numbers drawn; parameters and moments as they were."""
    expected, found = states_of(False), states_of(True)
    assert [v for v in expected[::5] if isinstance(v, str)]
    assert expected[4 * 5 + 1][0] is None
    assert all(map(same, found, expected))


def gradients_of(run, net, x, index):
    with contextlib.suppress(IndexError):
        run(x, index)
    return [None if p.grad is None else p.grad.clone() for p in net.parameters()]


def test_gradients_that_came_before_the_failure_are_there():
    def made(compiled):
        taeda.manual_seed(0)
        net = nn.Linear(3, 3)

        def step(x, index):
            net.zero_grad()
            net(x).sum().backward()
            seen = x[index]
            net.zero_grad()
            return seen

        run = taeda.compile(step, backend="aot_eager") if compiled else step
        x = taeda.randn(2, 3)
        return [gradients_of(run, net, x, taeda.tensor([k])) for k in (0, 1, 0, 7, 1, 9)]

    expected = made(False)
    assert expected[3][0] is not None and same(made(True), expected)


def test_an_error_that_the_program_catches_is_caught():
    def f(x, index):
        try:
            return taeda.rand(2) + x[index]
        except IndexError:
            return taeda.rand(2) - 1

    compiled, x = taeda.compile(f, backend="aot_eager"), taeda.arange(3.0)
    for k in (0, 1, 2, 5, 1, -7):
        index = taeda.tensor([k, k])
        taeda.manual_seed(k + 9)
        expected = f(x, index)
        taeda.manual_seed(k + 9)
        assert compiled(x, index).equal(expected)
    assert trusted(compiled)


def test_an_error_that_is_caught_after_a_write_has_no_graph():
    def f(x, index):
        x.add_(1)
        try:
            return x[index]
        except IndexError:
            return x.sum()

    compiled = taeda.compile(f, backend="aot_eager")
    for k in (0, 1, 2, 5):
        x, y = taeda.arange(3.0), taeda.arange(3.0)
        assert compiled(x, taeda.tensor([k])).equal(f(y, taeda.tensor([k]))) and x.equal(y)
    assert "whose error it may catch" in compiled.__taeda_compiled__.reasons[0]


def test_an_operation_that_nobody_reads_may_still_raise():
    def f(x, index):
        x[index]
        return x * 2

    compiled, x = taeda.compile(f, backend="aot_eager"), taeda.arange(3.0)
    for _ in range(3):
        assert compiled(x, taeda.tensor([1])).equal(x * 2)
    with pytest.raises(IndexError):
        compiled(x, taeda.tensor([4]))


@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.data.add_(1),
        lambda w: w.detach().add_(1),
        lambda w: w.add_(w.data.mul_(2)),
        lambda w: (w.data.add_(1), w.detach().mul_(2)),
        lambda w: w.detach().data.mul_(2),
        lambda w: w.view(2, 2).data[0].mul_(2),
        lambda w: w[1:].detach().mul_(2),
    ],
)
def test_versions_count_what_the_program_counts(write):
    """`.data` has a version of its own, detach() has that of its tensor."""

    def f(w):
        write(w)
        made = w * 2
        made.add_(1)
        return made, made.data

    compiled = taeda.compile(f, backend="aot_eager")
    w, other = taeda.ones(4), taeda.ones(4)
    for _ in range(4):
        (a, b), (c, d) = f(w), compiled(other)
        assert other._version == w._version and other.equal(w)
        assert (a._version, b._version) == (c._version, d._version) and a.equal(c) and b.equal(d)
    assert trusted(compiled)


def test_first_gradients_have_no_version_yet():
    """Recorded, by the graph, and as the program is: nobody saw the sums that they were made of."""

    def made(compiled):
        taeda.manual_seed(0)
        net = nn.Linear(4, 4)

        def step(x):
            net.zero_grad()
            (net(net(x)) + net(x)).square().sum().backward()

        run = taeda.compile(step, backend="aot_eager") if compiled else step
        found = []
        for _ in range(4):
            run(taeda.randn(3, 4))
            found += [(p.grad.clone(), p.grad._version) for p in net.parameters()]
        return found

    for (a, m), (b, n) in zip(made(False), made(True), strict=True):
        assert a.equal(b) and m == n


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (((4,), (1,), 0), ((4,), (1,), 4), False),
        (((4,), (1,), 0), ((4,), (1,), 3), True),
        (((4,), (2,), 0), ((4,), (2,), 1), False),
        (((4,), (2,), 0), ((4,), (2,), 2), True),
        (((2, 2), (4, 2), 1), ((2, 2), (4, 2), 0), False),
        (((0,), (1,), 0), ((4,), (1,), 0), False),
        (((), (), 3), ((2, 2), (1, 2), 0), True),
        (((), (), 4), ((2, 2), (1, 2), 0), False),
    ],
)
def test_places_in_memory_that_overlap(one, other, expected):
    memory = taeda.arange(16)
    pair = [memory.as_strided(*place) for place in (one, other)]
    assert bool(set(pair[0].flatten().tolist()) & set(pair[1].flatten().tolist())) == expected
    places = [layout_of(t) for t in pair]
    assert overlap(*places) == overlap(*reversed(places)) == expected


@pytest.mark.parametrize("apart", [True, False])
def test_a_write_to_memory_that_another_input_shares_stays_eager(apart, caplog):
    """Copies, with which a graph is rehearsed, share nothing."""
    memory = taeda.zeros(8)
    first, second = memory[:4], memory[4:] if apart else memory[2:6]

    def program(x):
        first.add_(x)
        return second * 2

    compiled = taeda.compile(program)
    for n in range(1, 4):
        assert compiled(taeda.ones(4)).tolist() == [0.0 if apart else 2.0 * n] * 2 + [0.0] * 2
    state = compiled.__taeda_compiled__
    assert not caplog.records
    assert bool(state.traces) == apart
    assert apart or state.reasons == ["it writes to one of two inputs that share memory"]
