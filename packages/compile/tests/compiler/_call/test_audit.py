"""Audits: what no guard saw is found out later, and the program is right from then on."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

import taeda
from taeda import nn
from taeda.compiler import Stop
from taeda.compiler._call import audit
from taeda.compiler._watch.guards import Guards

K = 2.0
LOG: list[int] = []
SEEN = {"log": LOG}


@pytest.fixture
def unguarded(monkeypatch):
    """Whatever a program reads, its graphs take it for unchanged."""
    monkeypatch.setattr(Guards, "compiled", lambda guards: (lambda: True, str))


def numbers(f, count, x):
    return [f(x).tolist() for _ in range(count)]


def test_what_no_guard_saw_is_found_by_an_audit(unguarded, monkeypatch):
    f = taeda.compile(lambda x: x * K, backend="aot_eager")
    x = taeda.ones(2)
    numbers(f, 5, x)
    monkeypatch.setitem(globals(), "K", 5.0)
    stale = numbers(f, 5, x)
    assert [2.0, 2.0] in stale
    with pytest.warns(
        UserWarning, match=r"in an audit its graph gave other bits.*test_audit.py:\d+"
    ):
        assert f(x).tolist() == [5.0, 5.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers(f, 5, x) == [[5.0, 5.0]] * 5
    state = f.__taeda_compiled__
    assert not state.traces
    assert "in an audit" not in state.reasons[-1]
    assert "other bits" in state.reasons[-1]


def test_an_error_that_the_graph_has_not(unguarded, monkeypatch):
    def program(x):
        if K > 3:
            raise ValueError("too large")
        return x * K

    f = taeda.compile(program, backend="aot_eager")
    numbers(f, 10, taeda.ones(2))
    monkeypatch.setitem(globals(), "K", 5.0)
    with (
        pytest.warns(UserWarning, match="the program raised ValueError, which its graph did not"),
        pytest.raises(ValueError, match="too large"),
    ):
        f(taeda.ones(2))
    for _ in range(3):
        with pytest.raises(ValueError, match="too large"):
            f(taeda.ones(2))


def test_with_fullgraph_it_raises(unguarded, monkeypatch):
    f = taeda.compile(lambda x: x * K, fullgraph=True, backend="aot_eager")
    numbers(f, 5, taeda.ones(2))
    monkeypatch.setitem(globals(), "K", 5.0)
    with pytest.raises(Stop, match="in an audit its graph gave other bits"):
        numbers(f, 12, taeda.ones(2))


def test_a_change_of_an_object_that_the_graph_leaves_out(unguarded, monkeypatch):
    """As if a method that writes was taken for one that reads."""
    from taeda.compiler._watch.reads import c_calls

    monkeypatch.setattr(c_calls, "READERS", c_calls.READERS | {"append"})
    f = taeda.compile(lambda x: (SEEN["log"].append(1), x * 2)[1], backend="aot_eager")
    with pytest.warns(UserWarning, match="the program changes a list, which its graph does not"):
        numbers(f, 12, taeda.ones(2))
    before = len(LOG)
    numbers(f, 3, taeda.ones(2))
    assert len(LOG) == before + 3


@pytest.mark.parametrize("wanted", [False, True])
def test_a_right_graph_passes_and_changes_nothing(wanted, monkeypatch):
    """Writes, draws, gradients: as in the program, audit or not."""
    monkeypatch.setattr(audit, "rate", 1)

    def program(x, total, w):
        total.add_(x.detach())
        return (w * x * taeda.rand(3)).sum()

    found = []
    for f in (program, taeda.compile(program, backend="aot_eager")):
        taeda.manual_seed(0)
        x, total = taeda.arange(3.0), taeda.zeros(3)
        w = taeda.ones(3, requires_grad=wanted)
        out = []
        for _ in range(8):
            loss = f(x, total, w)
            if wanted:
                loss.backward()
            out += [loss.item(), total.tolist(), total._version]
        found.append([out, w.grad.tolist() if wanted else None, taeda.get_rng_state().tolist()])
    assert found[0] == found[1]
    ((trace,),) = f.__taeda_compiled__.traces.values()
    assert trace.trusted
    assert trace.audit_at == trace.runs + 1


def test_steps_of_training_are_audited(monkeypatch):
    monkeypatch.setattr(audit, "rate", 1)
    found = []
    for compiled in (False, True):
        taeda.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1))
        optimizer = taeda.optim.Adam(model.parameters(), lr=1e-2)

        def step(x, model=model, optimizer=optimizer):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        run = taeda.compile(step, backend="aot_eager") if compiled else step
        found.append([run(taeda.ones(4, 4)).item() for _ in range(9)])
        found[-1] += [p.tolist() for p in model.parameters()]
    assert found[0] == found[1]
    assert any(
        t.trusted and t.runs > 4 for ts in run.__taeda_compiled__.traces.values() for t in ts
    )


def test_no_audit_makes_copies_that_are_too_large(unguarded, monkeypatch):
    monkeypatch.setattr(audit, "SHARE", 0.0)
    f = taeda.compile(lambda x: x.add_(K), backend="aot_eager")
    for _ in range(5):
        f(taeda.ones(2))
    monkeypatch.setitem(globals(), "K", 5.0)
    assert [f(taeda.ones(2)).tolist() for _ in range(8)] == [[3.0, 3.0]] * 8


def test_hooks_of_tensors_run_once_a_call(monkeypatch):
    monkeypatch.setattr(audit, "rate", 1)
    w = taeda.ones(2, requires_grad=True)
    f = taeda.compile(lambda x: (x * w).sum(), backend="aot_eager")
    f(taeda.ones(2)), f(taeda.ones(2))
    seen = []
    w.register_hook(lambda gradient: seen.append(1))
    for _ in range(3):
        f(taeda.ones(2)).backward()
    assert len(seen) == 3


class InUse:
    """What `is_due` asks of a trace."""

    in_use_since = 10.0

    def __init__(self, runs, audits):
        self.runs, self.audits = runs, audits


@pytest.mark.parametrize(
    ("runs", "audits", "now", "due"),
    [(300, [1.0], 10.1, True), (1000, [1.0], 10.1, False), (1000, [1.0], 409.0, False),
     (1000, [1.0], 411.0, True), (3000, [1.0, 2.0], 1009.0, False), (3000, [1.0, 2.0], 1011.0, True)],
)  # fmt: skip
def test_late_audits_keep_to_their_share_of_the_time(runs, audits, now, due):
    assert audit.is_due(InUse(runs, audits), now) is due


def test_rates():
    found = [audit.first_audit()]
    for _ in range(5):
        found.append(audit.next_audit(found[-1]))
    assert found == [10, 30, 100, 300, 1000, 3000]
    assert audit.rate_of("7") == 7
    assert audit.rate_of("never") > 1 << 60


@pytest.mark.parametrize("text", ["sometimes", "0", "-3", "1.5"])
def test_a_rate_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match="'always', 'never', or a number of calls"):
        audit.rate_of(text)


def test_the_environment_says_how_often():
    program = (
        "from taeda.compiler._call import audit; print(audit.first_audit(), audit.next_audit(5))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={"TAEDA_COMPILE_AUDIT": "5", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["5", "10"]


@pytest.mark.parametrize("cleared", ["before", "after", "never"])
def test_gradients_of_a_backward_inside_come_once_in_an_audit(cleared):
    """Whoever clears gradients outside of the compiled step: an audit adds none."""

    def step(x, w):
        loss = (w * x).sin().sum()
        loss.backward()
        return loss

    fast = taeda.compile(step, fullgraph=True, backend="aot_eager")
    ours, theirs = (taeda.ones(3, requires_grad=True) for _ in range(2))
    for number in range(1, 35):
        if cleared == "before":
            ours.grad = theirs.grad = None
        x = taeda.full((3,), number / 10)
        assert taeda.equal(step(x, ours), fast(x, theirs))
        assert taeda.equal(ours.grad, theirs.grad)
        if cleared == "after":
            ours.grad = theirs.grad = None
