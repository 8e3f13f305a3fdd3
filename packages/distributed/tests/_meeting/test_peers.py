"""Are processes alive, stopped, gone?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from taeda.distributed._meeting.peers import Peers, state_of


@pytest.fixture
def sleeper():
    process = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def until(process, state):
    for _ in range(20_000):
        if state_of(process.pid) == state:
            return
        os.sched_yield()
    raise AssertionError(f"{state_of(process.pid)}, not {state}")


def test_states(sleeper):
    assert state_of(os.getpid()) == "running"
    sleeper.send_signal(signal.SIGSTOP)
    until(sleeper, "stopped")
    sleeper.kill()
    sleeper.wait()
    assert state_of(sleeper.pid) == "gone"


@pytest.mark.parametrize("kernel", ["new", "old"])
def test_who_is_gone(sleeper, kernel, monkeypatch):
    if kernel == "old":

        def refuse(pid):
            raise OSError(38, "not implemented")

        monkeypatch.setattr(os, "pidfd_open", refuse)
    peers = Peers({0: os.getpid(), 3: sleeper.pid})
    assert peers.gone() == []
    sleeper.kill()
    sleeper.wait()
    assert peers.gone() == [3]
    peers.close()


def test_one_that_was_gone_before():
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    peers = Peers({2: process.pid})
    assert peers.gone() == [2]
    peers.close()
