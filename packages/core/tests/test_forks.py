"""Forks wait for locks that other threads hold, and children get them open."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from taeda import _forks
from taeda._forks import taken_for_forks


def in_child(act) -> int:
    """What a forked child that calls `act` ended with; -9 if it hung."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if act() else 1)
    for _ in range(200):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_a_fork_waits_for_the_thread_that_holds_a_lock(kind):
    lock, holds, done = taken_for_forks(kind()), threading.Event(), []

    def hold() -> None:
        with lock:
            holds.set()
            time.sleep(0.2)
            done.append(1)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    assert in_child(lambda: done == [1] and lock.acquire(timeout=1)) == 0
    thread.join()
    assert lock.acquire(timeout=1), "the parent has it back"
    lock.release()


def test_the_thread_that_forks_may_hold_it():
    lock = taken_for_forks(threading.RLock())
    with lock:
        assert in_child(lambda: lock.acquire(timeout=1)) == 0


def test_a_fork_does_not_wait_for_ever(monkeypatch):
    """A thread that waits for the one that forks keeps its lock."""
    monkeypatch.setattr(_forks, "WAIT", 0.1)
    lock, ends, holds = taken_for_forks(threading.Lock()), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            holds.set()
            ends.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    assert in_child(lambda: True) == 0
    ends.set()
    thread.join()
    assert lock.acquire(timeout=1), "a lock that was not taken is not opened"
    lock.release()
