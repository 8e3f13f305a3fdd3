"""Program and graph in turns: when a graph is left, is timed once more, and stays."""

from __future__ import annotations

import time

import taeda
from taeda.compiler._call import trial
from taeda.compiler._replay import trace as traces


def test_turns_keep_the_time_of_each_side():
    turns = trial.Turns()
    sides = [trial.is_graphs_turn(number) for number in range(8)]
    assert sides == [True, False, False, True, False, True, True, False]
    assert [turns.timed(side, max, 1, number) for number, side in enumerate(sides)][-1] == 7
    assert len(turns) == 8 and len(turns.seconds[True]) == 4
    turns.seconds = ([4.0, 1.0, 2.0, 90.0], [3.0, 5.0])
    assert turns.fastest() == (1.0, 3.0)
    assert turns.usual() == (7.0 / 3, 3.0)


def test_graphs_that_calls_take_in_turns_are_timed_together():
    f = taeda.compile(lambda x: x + 1)
    given = [taeda.ones(n) for n in range(1, 20)]
    for _ in range(60):
        for x in given:
            assert f(x).equal(x + 1)
    state = f.__taeda_compiled__
    assert state.off
    assert "its graphs take" in state.reasons[-1]


def test_graphs_that_are_worth_it_stay(monkeypatch):
    state = taeda.compile(lambda x: x + 1).__taeda_compiled__
    monkeypatch.setattr(state, "_by_graph", lambda args, kwargs: 1)
    monkeypatch.setattr(state, "function", lambda x: time.sleep(1e-4))
    state._scatter.misses = trial.SCATTERED
    for _ in range(trial.JUDGED):
        state((taeda.ones(2),), {})
    assert state._scatter.misses == trial.NEVER
    assert not state.off


def test_a_lost_trial_waits_for_what_is_being_compiled(monkeypatch):
    pending = True
    monkeypatch.setattr(traces, "any_pending", lambda program: pending)
    monkeypatch.setattr(trial, "WAY", 1.0)  # the graph loses
    f = taeda.compile(lambda x: (x * 2 + 1).sin())
    x = taeda.ones(20_000)
    for _ in range(40):
        f(x)
    ((trace,),) = f.__taeda_compiled__.traces.values()
    assert 0 <= trace.runs < trial.TRIAL[-1]
    assert not f.__taeda_compiled__.reasons
    pending = False
    for _ in range(40):
        f(x)
    assert trace.runs == -1
    assert "its graph takes" in f.__taeda_compiled__.reasons[0]


def test_a_trial_that_was_won_waits_for_nothing(monkeypatch):
    monkeypatch.setattr(traces, "any_pending", lambda program: True)
    monkeypatch.setattr(trial, "WAY", -1.0)  # the graph wins
    f = taeda.compile(lambda x: (x * 2 + 1).sin())
    for _ in range(40):
        f(taeda.ones(20_000))
    ((trace,),) = f.__taeda_compiled__.traces.values()
    assert trace.runs >= trial.TRIAL[-1]
    assert all(trace.seconds)
    assert not f.__taeda_compiled__.reasons


def test_a_trial_does_not_wait_for_ever(monkeypatch):
    monkeypatch.setattr(traces, "any_pending", lambda program: True)
    monkeypatch.setattr(traces, "PATIENCE", 0.0)
    monkeypatch.setattr(trial, "WAY", 1.0)
    f = taeda.compile(lambda x: (x * 2 + 1).sin())
    for _ in range(52):
        f(taeda.ones(20_000))
    ((trace,),) = f.__taeda_compiled__.traces.values()
    assert trace.runs == -1
    assert all(trace.seconds)


def test_a_trial_that_was_lost_once_is_repeated(monkeypatch):
    monkeypatch.setattr(traces, "any_pending", lambda program: False)
    monkeypatch.setattr(trial, "WAY", 10.0)  # the graph loses
    f = taeda.compile(lambda x: (x * 2 + 1).sin())
    for _ in range(32):  # one records, 31 is the last that is timed
        f(taeda.ones(20_000))
    ((trace,),) = f.__taeda_compiled__.traces.values()
    assert trace.lost and trace.runs == trial.TRIAL[0] - 1 and not f.__taeda_compiled__.reasons
    monkeypatch.setattr(trial, "WAY", -10.0)  # the graph wins
    for _ in range(12):
        f(taeda.ones(20_000))
    assert not f.__taeda_compiled__.reasons and trace.runs == trial.TRIAL[-1]
