"""Callbacks around a sample of all operations."""

import threading

import pytest

import taeda
from taeda._core_api.programs import tracers
from taeda.profiler import (
    add_operator_callback,
    enable_operator_callbacks,
    remove_operator_callback,
)


@pytest.fixture
def added():
    handles = []

    def add(*args, **more):
        handles.append(add_operator_callback(*args, **more))
        return handles[-1]

    yield add
    for handle in handles:
        remove_operator_callback(handle)
    assert not tracers.entered


def test_both_ends_of_a_call(added):
    seen = []

    def enters(call):
        call.state = len(seen)
        seen.append(("in", call.name, [tuple(value.shape) for value in call.inputs]))

    def leaves(call):
        seen.append(("out", call.name, call.state, call.result.sum().item() > 0))

    x = taeda.ones(2, 3)
    handle = added(enters, None, needs_inputs=True)
    x.exp()
    assert seen == [("in", "aten::exp", [(2, 3)])]
    seen.clear()
    other = added(None, lambda call: seen.append(("out", call.name, call.inputs)))
    x.exp()
    assert seen == [("in", "aten::exp", [(2, 3)]), ("out", "aten::exp", None)]
    assert handle != other


def test_a_sample_is_a_share_of_the_calls(added):
    seen = []
    added(seen.append, sampling=0.1)
    state = taeda.get_rng_state()
    x = taeda.ones(2)
    for _ in range(2000):
        x.exp()
    assert 120 < len(seen) < 280
    assert taeda.equal(state, taeda.get_rng_state())


def test_a_thread_takes_part_when_it_asks(added):
    seen = []
    added(lambda call: seen.append(threading.current_thread().name))

    def work(on):
        if on:
            enable_operator_callbacks()
        taeda.ones(2)

    for on in (False, True):
        thread = threading.Thread(target=work, args=(on,), name=str(on))
        thread.start()
        thread.join()
    assert seen == ["True"]


@pytest.mark.parametrize(
    ("kind", "arguments", "more"),
    [
        (TypeError, (3,), {}),
        (ValueError, (), {}),
        (ValueError, (print,), {"sampling": 0}),
        (ValueError, (print,), {"sampling": 1.5}),
    ],
)
def test_bad_callbacks_are_refused(kind, arguments, more):
    with pytest.raises(kind, match="add_operator_callback"):
        add_operator_callback(*arguments, **more)
    with pytest.raises(KeyError, match="no callback has the handle 7"):
        remove_operator_callback(7)
