from __future__ import annotations

import functools

import pytest

import taeda


def scaled(x, by=2.0):
    return x * by


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by


@pytest.mark.parametrize(
    "function",
    [scaled, functools.partial(scaled, by=2.0), lambda x: Scale(2.0)(x), Scale(2.0)],
)  # fmt: skip
def test_code_of_the_program_runs_as_its_copy(watch, function):
    observer, result = watch(lambda x: function(x), taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    assert [step.op for step in observer.recorder.graph.steps] == ["mul.Tensor"]


def test_another_default_or_body_fails_the_guards(watch):
    def inner(x, by=2.0):
        return x * by

    observer, _ = watch(lambda x: inner(x), taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    inner.__defaults__ = (3.0,)
    assert not holds()


def test_a_function_without_a_copy(watch):
    async def waits(x):
        return x

    observer, _ = watch(lambda x: waits(x).close(), taeda.ones(1))
    assert "waits has no copy" in observer.reason


def test_an_environment_variable_is_asked_again(watch, monkeypatch):
    import os

    monkeypatch.setenv("TAEDA_TEST_SCALE", "2")
    observer, result = watch(lambda x: x * float(os.environ["TAEDA_TEST_SCALE"]), taeda.ones(1))
    assert (observer.reason, result.item()) == ("", 2)
    holds, failing = observer.guards.compiled()
    assert holds()
    monkeypatch.setenv("TAEDA_TEST_SCALE", "3")
    assert not holds()
    assert "TAEDA_TEST_SCALE" in failing()


def test_nodes_that_a_backward_went_through_are_known(watch):
    w = taeda.ones(1, requires_grad=True)

    def program(x):
        loss = (x * w).sum()
        loss.backward()
        return loss.detach()

    observer, _ = watch(program, taeda.ones(1))
    assert observer.touches_gradients
    assert len(observer.consumed) == 3


def test_types_of_the_library_are_not_made(watch):
    observer, _ = watch(lambda x: taeda.nn.Linear(1, 1)(x), taeda.ones(1))
    assert observer.reason == "it makes a Linear"
