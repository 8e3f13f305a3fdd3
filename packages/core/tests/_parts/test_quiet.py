"""Amid an import of ours no handler of a signal runs and no collection; afterwards all is as it was."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time

import pytest

from taeda._parts.packages import be_open, be_quiet

NUMBER = signal.SIGUSR1
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads an entry as Linux lays it out")


@pytest.fixture
def came():
    """What the handler of a signal was called with; a thread beside takes signals too."""
    calls, over = [], threading.Event()
    before = signal.signal(NUMBER, lambda number, frame: calls.append((number, frame)))
    beside = threading.Thread(target=over.wait, daemon=True)
    beside.start()
    yield calls
    over.set()
    beside.join(60)
    signal.signal(NUMBER, before)
    assert gc.isenabled()


def sent(count=1):
    """Signals to the process, not to a thread, all of them delivered."""
    for _ in range(count):
        os.kill(os.getpid(), NUMBER)
        time.sleep(0.05)


def end():
    be_open()
    sum(range(10))  # Python looks for signals between its lines


def test_a_signal_waits_whichever_thread_takes_it(came):
    be_quiet()
    be_quiet()
    sent()
    be_open()
    assert not came and not gc.isenabled()
    be_open()
    assert [number for number, _ in came] == [NUMBER] and gc.isenabled()
    assert came[0][1].f_code.co_name == "test_a_signal_waits_whichever_thread_takes_it"
    sent()
    assert len(came) == 2


def test_signals_of_one_number_that_waited_are_one_as_ever(came):
    be_quiet()
    sent(3)
    be_open()
    assert len(came) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_a_handler_raises_comes_at_the_end_and_nothing_stays_held(came, error):
    def handle(*_):
        raise error

    signal.signal(NUMBER, handle)
    be_quiet()
    sent()
    with pytest.raises(error):
        end()
    assert gc.isenabled()
    with pytest.raises(error):
        signal.raise_signal(NUMBER)


def test_a_handler_that_was_set_meanwhile_stays(came):
    late = []
    be_quiet()
    signal.signal(NUMBER, lambda *_: late.append(1))
    be_open()
    sent()
    assert late == [1] and not came


def test_what_is_ignored_and_what_ends_the_program_stays_so(came):
    for action in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(NUMBER, action)
        be_quiet()
        be_open()
        assert signal.getsignal(NUMBER) == action
    be_quiet()
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), NUMBER)
        os._exit(0)
    be_open()
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == NUMBER


def flags():
    entry = ctypes.create_string_buffer(256)
    assert ctypes.CDLL(None).sigaction(NUMBER.value, None, entry) == 0
    return ctypes.c_int.from_buffer(entry, 136).value


@LINUX
@pytest.mark.parametrize("interrupts", [True, False])
def test_calls_of_the_system_go_on_or_not_as_before(came, interrupts):
    restart = 0x10000000
    signal.siginterrupt(NUMBER, interrupts)
    assert bool(flags() & restart) is not interrupts
    be_quiet()
    assert bool(flags() & restart) is not interrupts
    be_open()
    assert bool(flags() & restart) is not interrupts


def test_an_event_loop_is_woken_once(came):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    try:
        be_quiet()
        sent()
        be_open()
        assert os.read(reading, 10) == bytes([NUMBER])
    finally:
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)


def test_another_thread_that_imports_holds_no_signals_and_collections_wait_for_the_last(came):
    inside, over = threading.Event(), threading.Event()

    def imports():
        be_quiet()
        inside.set()
        over.wait(60)
        be_open()

    thread = threading.Thread(target=imports)
    thread.start()
    inside.wait(60)
    sent()
    assert len(came) == 1
    be_quiet()
    be_open()
    assert not gc.isenabled()
    over.set()
    thread.join(60)
    assert gc.isenabled()


def test_collections_that_were_off_stay_off():
    gc.disable()
    try:
        be_quiet()
        be_open()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("who", ["the thread that imports", "another"])
def test_the_child_of_a_fork_amid_an_import_has_its_handlers(came, who):
    """Here the main thread imports; with another, it is the child's only one."""
    codes = []

    def fork():
        child = os.fork()
        if child == 0:
            if who == "the thread that imports":
                be_open()
            os.kill(os.getpid(), NUMBER)
            sum(range(10))
            os._exit(len(came) if gc.isenabled() else 9)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    be_quiet()
    if who == "another":
        thread = threading.Thread(target=fork)
        thread.start()
        thread.join(60)
    else:
        fork()
    be_open()
    assert codes == [1] and not came
