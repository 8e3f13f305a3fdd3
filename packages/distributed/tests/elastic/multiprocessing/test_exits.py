"""Which process ended first, and what is left of its session."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

from taeda.distributed._meeting.peers import state_of
from taeda.distributed.elastic.multiprocessing.exits import Exits, left_by, signal_all


def program(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, start_new_session=True
    )


def test_the_order_of_ends():
    processes = [program("input()") for _ in range(3)]
    exits = Exits({rank: process.pid for rank, process in enumerate(processes)})
    for rank in (1, 2, 0):
        processes[rank].communicate(b"\n")
        assert exits.place(rank) == (1, 2, 0).index(rank)
    assert list(exits.times) == [1, 2, 0] and sorted(exits.times.values()) == list(
        exits.times.values()
    )
    exits.stop()


class Late(Exits):
    """Its thread looks only when all have ended, as on a busy machine."""

    look = threading.Event()

    def _run(self) -> None:
        self.look.wait()
        super()._run()


def test_the_order_of_ends_that_one_look_sees():
    processes = [program("input()") for _ in range(4)]
    exits = Late({rank: process.pid for rank, process in enumerate(processes)})
    for rank in (3, 1, 2, 0):
        processes[rank].communicate(b"\n")
    exits.look.set()
    assert [exits.place(rank) for rank in range(4)] == [3, 1, 2, 0]
    exits.stop()


def test_a_thread_that_waits_can_be_stopped():
    process = program("input()")
    exits = Exits({0: process.pid})
    exits.stop()
    assert exits.times == {} and exits.place(0) == 0
    process.communicate(b"\n")


def test_what_a_process_leaves_is_found_and_ended():
    leader = program("import subprocess, sys; subprocess.Popen(['sleep', '60']); input()")
    until = time.monotonic() + 30
    while not (left := left_by({leader.pid})):
        assert time.monotonic() < until
        time.sleep(0.01)
    leader.communicate(b"\n")
    assert left_by({leader.pid}) == left and state_of(left[0]) == "running"
    signal_all([*left, 2**22 + 1], signal.SIGTERM)
    while left_by({leader.pid}):
        assert time.monotonic() < until
        time.sleep(0.01)
    assert state_of(left[0]) == "gone"
