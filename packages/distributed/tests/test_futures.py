"""Values that will be there later, with callbacks."""

from __future__ import annotations

import threading

import pytest

import taeda
from taeda.futures import Future, collect_all, wait_all


def test_a_value_is_set_once():
    future = Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="not done: call wait"):
        future.value()
    future.set_result(3)
    assert future.done() and future.value() == future.wait() == 3
    with pytest.raises(RuntimeError, match="completes once"):
        future.set_result(4)
    with pytest.raises(RuntimeError, match="completes once"):
        future.set_exception(ValueError())


def test_an_error_is_raised_where_the_value_is_asked():
    future = Future()
    with pytest.raises(AssertionError, match="3 is of type int, not an exception"):
        future.set_exception(3)
    future.set_exception(KeyError("k"))
    for ask in (future.wait, future.value):
        with pytest.raises(KeyError):
            ask()


@pytest.mark.parametrize("first", [True, False])
def test_what_follows(first):
    future = Future()
    if first:
        future.set_result(2)
    double, fails = future.then(lambda f: f.value() * 2), future.then(lambda f: 1 / 0)
    after = fails.then(lambda f: f.value())
    if not first:
        assert not double.done()
        future.set_result(2)
    assert double.wait() == 4
    with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero") as caught:
        fails.wait()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        after.wait()


def test_callbacks_run_once_each_and_their_errors_are_logged(caplog):
    future, told = Future(), []
    future.add_done_callback(lambda f: told.append(f.value()))
    future.add_done_callback(lambda f: 1 / 0)
    future.set_result(5)
    future.add_done_callback(lambda f: told.append(-f.value()))
    assert told == [5, -5] and "a callback of a future failed" in caplog.text
    for call, words in ((future.then, "then"), (future.add_done_callback, "add_done_callback")):
        with pytest.raises(TypeError, match=rf"{words}\(\) takes a callable, not int"):
            call(3)


def test_another_thread_waits():
    future, got = Future(), []
    thread = threading.Thread(target=lambda: got.append(future.wait()))
    thread.start()
    future.set_result("later")
    thread.join(20)
    assert got == ["later"]


def test_all_of_several():
    ones = [Future() for _ in range(3)]
    every = collect_all(ones)
    for number in (2, 0, 1):
        assert not every.done()
        ones[number].set_result(number)
    assert every.wait() == ones and wait_all(ones) == [0, 1, 2]
    assert collect_all([]).wait() == [] == wait_all([])


def test_one_of_several_fails():
    ones = [Future() for _ in range(3)]
    every = collect_all(ones)
    ones[1].set_exception(OSError("broken"))
    with pytest.raises(OSError, match="broken"):
        wait_all(ones)
    assert not every.done()
    ones[0].set_result(0)
    ones[2].set_result(2)
    with pytest.raises(OSError, match="broken"):
        every.wait()


def test_devices_are_accelerators_with_an_index():
    assert Future(devices=[0, "cuda:1"])._devices == [
        taeda.device("cuda:0"),
        taeda.device("cuda:1"),
    ]
    for device in ("cpu", "cuda"):
        with pytest.raises(ValueError, match=f"accelerators with an index, not '{device}'"):
            Future(devices=[device])
