from __future__ import annotations

import gc
import signal
import sys
import threading
import warnings
import weakref

import pytest

import taeda
from taeda import nn
from taeda.compiler import Stop
from taeda.compiler._errors import PASSING
from taeda.compiler._watch.observer import Observer, here


def test_the_first_reason_stays_with_its_line(watch):
    def program(x):
        x.data_ptr()
        return x.untyped_storage()

    observer, _ = watch(program, taeda.ones(2))
    assert observer.reason == "it reads Tensor.data_ptr"
    assert observer.where == f"{__file__}:{program.__code__.co_firstlineno + 1}"
    assert not observer.active
    assert not observer.recorder.active


def test_a_strict_run_raises_where_it_ends(watch):
    with pytest.raises(Stop, match=r"it reads Tensor.data_ptr \(.*test_session.py:\d+\)"):
        watch(lambda x: x.data_ptr(), taeda.ones(2), strict=True)


def test_code_that_slips_in_ends_it(watch):
    class Odd:
        def __enter__(self):
            return 3

        def __exit__(self, *error):
            return None

    def program(x, odd):
        with odd as n:
            return x * n

    observer, result = watch(program, taeda.ones(2), Odd())
    assert "Odd.__enter__ runs, and what it reads is not seen" in observer.reason
    assert result.tolist() == [3, 3]


def test_nobody_observes_afterwards(watch):
    seen = []
    observer, _ = watch(lambda x: seen.append(here.get()), taeda.ones(2))
    assert here.get() is None
    assert "append of a container that was there before" in observer.reason
    assert seen == [observer]


class Ends:
    def __init__(self, then):
        self.then = then

    def __del__(self):
        self.then()


def test_what_python_calls_by_chance_may_not_happen_again():
    def seen(call):
        observer = Observer(strict=True)
        call(lambda: observer.profile(sys._getframe(1), "call", None))
        return observer.reason

    def by_signal(then):
        before = signal.signal(signal.SIGUSR1, lambda number, frame: then())
        try:
            signal.raise_signal(signal.SIGUSR1)
        finally:
            signal.signal(signal.SIGUSR1, before)

    assert seen(by_signal).startswith(PASSING)
    assert seen(lambda then: Ends(then) and None).startswith(PASSING)
    with pytest.raises(Stop, match="what it reads is not seen"):
        seen(lambda then: then())


def test_what_warns_stays_eager():
    def program(x, y):
        return nn.functional.mse_loss(x, y)  # which broadcasts, and says so

    compiled = taeda.compile(program)
    told = []
    for _ in range(6):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            compiled(taeda.ones(3, 2), taeda.ones(1, 2))
        told.append(len(found))
    assert told == [1] * 6


@pytest.mark.parametrize("grows", [False, True])
def test_the_tensors_of_a_recorded_call_are_free_after_it(grows):
    weight = taeda.ones(3, requires_grad=grows)
    f = taeda.compile(lambda x: (x * weight).exp())
    gc.disable()
    try:
        for _ in range(4):
            x = taeda.randn(3)
            y = f(x)
            kept = [weakref.ref(x), weakref.ref(y)]
            del x, y
            assert [one() for one in kept] == [None, None]
    finally:
        gc.enable()


def test_an_object_that_a_call_without_a_graph_read_is_free_after_it():
    """A program that looks through weak references would see it alive."""
    held = [Thing()]
    held[0].k, soft = 2.0, weakref.WeakValueDictionary(a=held[0])

    @taeda.compile
    def f(x):
        held[0].k = held[0].k + 1
        return x * soft["a"].k

    gc.disable()
    try:
        for _ in range(4):
            f(taeda.ones(2))
        held[0] = Thing()
        held[0].k = 5.0
        with pytest.raises(KeyError):
            f(taeda.ones(2))
    finally:
        gc.enable()


class Thing:
    """An object of a class of a user."""


def made_inside(x):
    own = [[], {}, {"a": 1}, {"a": []}, set(), Thing(), {"b": 2}, list("ab"), (1, [])]
    return own, x


def test_only_what_the_run_made_is_new(watch):
    old = [[], {"a": []}, set(), Thing(), (1, []), lambda: 1]
    observer, (own, _) = watch(made_inside, taeda.ones(1))
    assert not observer.reason
    assert all(map(observer.is_new, own))
    assert not any(map(observer.is_new, old))


def test_a_collection_in_between_makes_nothing_new():
    """Another thread may run the collector: what the run made counts as old then, never the other way."""
    old = [[n] for n in range(10)]
    observer = Observer(strict=False)
    gc.collect(0)
    observer.begin()
    own = [[n] for n in range(10)]
    assert all(map(observer.is_new, own))
    more = [[n] for n in range(10)]
    gc.collect(0)
    assert not any(map(observer.is_new, [*old, *more]))


def test_what_is_young_when_a_run_begins_is_old():
    gc.disable()
    try:
        gc.collect(0)
        young = [[n] for n in range(10)]
        observer = Observer(strict=False)
        observer.begin()
        assert not any(map(observer.is_new, young))
        assert observer.is_new([1])
    finally:
        gc.enable()


def test_a_tuple_that_another_thread_makes_is_not_held_by_a_run():
    """`tuple` of an iterator refuses to give its tuple the right size if anybody else holds it."""
    half, goes_on, made = threading.Event(), threading.Event(), []

    def numbers():
        yield from range(20)
        half.set()
        assert goes_on.wait(20)

    thread = threading.Thread(target=lambda: made.append(tuple(numbers())))
    observer = Observer(strict=False)
    gc.disable()
    try:
        gc.collect(0)
        thread.start()
        assert half.wait(20)
        observer.begin()
        observer.is_new([])
    finally:
        gc.enable()
        goes_on.set()
        thread.join()
    assert made == [tuple(range(20))]


def test_a_tuple_from_before_a_run_is_old_and_one_of_the_run_new():
    gc.disable()
    try:
        gc.collect(0)
        young = (*iter([[1]]),)
        observer = Observer(strict=False)
        observer.begin()
        assert not observer.is_new(young)
        assert observer.is_new((*iter([[2]]),))
    finally:
        gc.enable()
