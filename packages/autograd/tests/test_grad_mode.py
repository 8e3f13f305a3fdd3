"""no_grad, enable_grad, set_grad_enabled, inference_mode: as contexts and as decorators."""

from __future__ import annotations

import threading

import taeda


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
