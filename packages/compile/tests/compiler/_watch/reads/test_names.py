from __future__ import annotations

import builtins

import taeda

FACTOR = 2.0


def test_globals_builtins_and_variables_around_are_guarded(watch, monkeypatch):
    offset = 1.0

    def program(x):
        return x * FACTOR + min(offset, 3.0)

    observer, result = watch(program, taeda.ones(2))
    assert result.tolist() == [3, 3]
    said = observer.guards.describe()
    assert "global FACTOR" in said
    assert "no global min" in said
    holds, failing = observer.guards.compiled()
    assert holds()
    offset = 2.0
    assert not holds()
    assert "offset" in failing()
    offset = 1.0
    monkeypatch.setitem(globals(), "min", max)
    assert not holds()
    assert "min" in failing()


def test_a_builtin_that_is_replaced_is_noticed(watch, monkeypatch):
    observer, _ = watch(lambda x: x * len(x), taeda.ones(2))
    holds, _ = observer.guards.compiled()
    assert holds()
    monkeypatch.setattr(builtins, "len", lambda value: 7)
    assert not holds()
