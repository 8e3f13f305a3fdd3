"""A recorded run that is run again: its rehearsal, its results, its graph."""

from __future__ import annotations

import pytest

import taeda


def test_a_graph_of_other_bits_is_not_trusted(monkeypatch):
    from taeda.compiler._trace import Trace

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
    from taeda.compiler._trace import Trace

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
