"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts and as decorators."""

from __future__ import annotations

import copy
import pickle
import threading
import types

import pytest

import taeda
from taeda.autograd import forward_ad


def test_nesting_and_exceptions_restore():
    with taeda.no_grad():
        assert not taeda.is_grad_enabled()
        with taeda.enable_grad():
            assert taeda.is_grad_enabled()
        assert not taeda.is_grad_enabled()
        try:
            with taeda.enable_grad():
                raise KeyError
        except KeyError:
            assert not taeda.is_grad_enabled()
    assert taeda.is_grad_enabled()


def test_decorators():
    @taeda.no_grad()
    def plain():
        return taeda.is_grad_enabled()

    @taeda.no_grad
    def bare():
        return taeda.is_grad_enabled()

    @taeda.no_grad()
    def generator():
        yield taeda.is_grad_enabled()
        yield taeda.is_grad_enabled()

    assert not plain()
    assert not bare()
    seen = [(inside, taeda.is_grad_enabled()) for inside in generator()]
    assert seen == [(False, True), (False, True)]


def test_set_grad_enabled_as_call_and_context():
    taeda.set_grad_enabled(False)
    try:
        assert not taeda.is_grad_enabled()
    finally:
        taeda.set_grad_enabled(True)
    with taeda.set_grad_enabled(False):
        assert not taeda.is_grad_enabled()
    assert taeda.is_grad_enabled()


def test_modes_belong_to_their_thread():
    seen = []
    with taeda.no_grad():
        thread = threading.Thread(target=lambda: seen.append(taeda.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_inference_mode():
    x = taeda.ones(2, requires_grad=True)
    with taeda.inference_mode():
        y = x * 2
        assert taeda.is_inference_mode_enabled()
    assert y.is_inference()
    assert not y.requires_grad


def test_multithreading_may_be_named():
    x = taeda.ones(2, requires_grad=True)
    with taeda.autograd.set_multithreading_enabled(False) as inside:
        (x * 2).sum().backward()
    assert inside is None and x.grad.tolist() == [2, 2]
    assert taeda.autograd.grad_mode.set_multithreading_enabled(True).clone().mode is True


def context_of(kind):
    if kind is taeda.set_grad_enabled or kind is forward_ad._set_fwd_grad_enabled:
        with taeda.enable_grad():  # the first of the two switches when it is made
            return kind(False)
    return kind()


KINDS = [
    taeda.no_grad,
    taeda.enable_grad,
    taeda.set_grad_enabled,
    taeda.inference_mode,
    forward_ad._set_fwd_grad_enabled,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_signal_cannot_tear_a_context(kind):
    """The handler of a signal runs between instructions of Python: C that enters and leaves has none."""
    for name in ("__enter__", "__exit__"):
        assert isinstance(getattr(kind, name), types.MethodDescriptorType), name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_copy_of_a_context_has_its_settings_and_switches_nothing(kind, copied):
    def modes():
        x = taeda.ones(1, requires_grad=True) * 2
        return taeda.is_grad_enabled(), x.requires_grad, x.is_inference()

    context, before = context_of(kind), modes()
    with context:
        inside = modes()
    other = copied(context)
    assert modes() == before and type(other) is kind
    with other:
        assert modes() == inside
    assert modes() == before
