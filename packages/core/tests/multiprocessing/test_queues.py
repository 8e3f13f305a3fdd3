"""Queues: refusals at once, time limits, and processes that are killed in the middle."""

from __future__ import annotations

import multiprocessing
import queue
import signal

import pytest
from forks import forked

import taeda
import taeda.multiprocessing as mp

KINDS = [mp.Queue, mp.JoinableQueue, mp.SimpleQueue]


@pytest.mark.parametrize("kind", KINDS)
def test_in_and_out(kind):
    q = kind()
    q.put([taeda.arange(3), "text"])
    tensor, text = q.get()
    assert tensor.tolist() == [0, 1, 2]
    assert text == "text"
    assert q.empty()


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_pickled_is_refused_by_put(kind):
    q = kind()
    with pytest.raises((AttributeError, TypeError)):
        q.put(lambda: None)
    with pytest.raises(RuntimeError, match="requires grad"):
        q.put(taeda.ones(2, requires_grad=True) * 2)
    q.put("fine")
    assert q.get() == "fine"


def test_what_is_put_is_what_is_got():
    q = mp.Queue()
    value = [1]
    q.put(value)
    value.append(2)
    assert q.get() == [1]


def test_limits():
    q = mp.Queue(maxsize=1)
    with pytest.raises(queue.Empty):
        q.get(timeout=0.01)
    with pytest.raises(queue.Empty):
        q.get_nowait()
    q.put(1)
    assert q.full()
    with pytest.raises(queue.Full):
        q.put(2, timeout=0.01)
    assert q.get(timeout=5) == 1
    q.put_nowait(2)
    assert q.get() == 2
    q.close()
    with pytest.raises(ValueError, match="closed"):
        q.get()


def test_task_done():
    q = mp.JoinableQueue()
    q.put(1)
    assert q.get() == 1
    q.task_done()
    q.join()
    with pytest.raises(ValueError):
        q.task_done()


@pytest.mark.parametrize("kind", [mp.Queue, mp.SimpleQueue])
def test_a_reader_that_is_killed_blocks_nobody(kind):
    q = kind()
    assert forked(q.get, 0.2) == -signal.SIGKILL
    q.put("for you")
    assert q.get() == "for you"


def test_a_writer_that_is_killed_leaves_whole_messages():
    q = mp.SimpleQueue()

    def write():
        while True:
            q.put(taeda.ones(20_000))

    assert forked(write, 0.2) == -signal.SIGKILL
    count = 0
    while not q.empty():
        assert q.get().sum() == 20_000
        count += 1
    assert count > 0
    q.put("still works")
    assert q.get() == "still works"


def test_they_are_the_standard_kinds():
    assert isinstance(mp.Queue(), multiprocessing.queues.Queue)
    assert isinstance(mp.JoinableQueue(), multiprocessing.queues.JoinableQueue)
    assert isinstance(mp.SimpleQueue(), multiprocessing.queues.SimpleQueue)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_contexts(method):
    context = mp.get_context(method)
    assert isinstance(context, type(multiprocessing.get_context(method)))
    assert context is mp.get_context(method) is context.get_context()
    assert isinstance(context.Queue(), type(mp.Queue()))
    assert context.Process is multiprocessing.get_context(method).Process


def test_an_unknown_context():
    with pytest.raises(ValueError, match="carrier pigeon"):
        mp.get_context("carrier pigeon")


def double(tensor):
    return tensor.mul_(2)


def test_a_pool_maps_tensors_in_place():
    tensors = [taeda.ones(3) for _ in range(5)]
    with mp.get_context("fork").Pool(2) as pool:
        back = pool.map(double, tensors)
    assert all(t.tolist() == [2, 2, 2] for t in tensors)
    assert all(a.is_set_to(b) for a, b in zip(tensors, back, strict=True))
