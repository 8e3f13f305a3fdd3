"""Processes started together: numbers, failures of every kind, and that nobody is left behind."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from children import fail_in_one, fill_all, spawn_and_be_killed

import taeda
import taeda.multiprocessing as mp
from taeda.multiprocessing.spawn import start_processes


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as facts:
        return facts.read().rpartition(")")[2].split()[0] != "Z"


def number(i, tensor):
    tensor[i] = i + 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_each_process_knows_its_number(method):
    x = taeda.zeros(2).share_memory_()
    if method == "fork":
        assert start_processes(number, (x,), nprocs=2, start_method=method) is None
        assert x.tolist() == [1, 2]
    else:
        assert start_processes(fill_all, (x,), nprocs=2, start_method=method) is None
        assert x.tolist() == [5, 5]


def test_join_later():
    context = mp.spawn(fill_all, (taeda.zeros(1),), nprocs=2, join=False)
    assert isinstance(context, mp.SpawnContext)
    assert len(set(context.pids())) == 2
    assert not context.join(timeout=0)
    while not context.join(timeout=30):
        pass
    assert context.join()


def test_no_processes_end_at_once():
    assert mp.spawn(fail_in_one, ("raise",), nprocs=0) is None


def test_an_exception_brings_its_traceback_and_ends_the_rest():
    with pytest.raises(mp.ProcessRaisedException) as caught:
        start_processes(fail_in_one, ("raise",), nprocs=3, start_method="fork")
    text = str(caught.value)
    assert text.startswith("\n\n-- Process 1 terminated with the following error:\n")
    assert len(text) < 40_000
    assert text.rstrip().endswith("words")
    assert caught.value.error_index == 1
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("how", "code", "name"),
    [("exit", 3, None), ("SIGKILL", -9, "SIGKILL"), ("SIGUSR1", -signal.SIGUSR1, "SIGUSR1")],
)
def test_an_exit_is_named(how, code, name):
    with pytest.raises(mp.ProcessExitedException) as caught:
        start_processes(fail_in_one, (how,), nprocs=2, start_method="fork")
    error = caught.value
    assert (error.error_index, error.exit_code, error.signal_name) == (1, code, name)
    assert (name or "exit code 3") in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), vars(copy)) == (type(error), vars(error))


def test_an_interrupted_child_is_no_failure():
    assert start_processes(fail_in_one, ("interrupt", 0.0), nprocs=2, start_method="fork") is None


def test_a_process_that_will_not_end_is_killed():
    context = start_processes(fail_in_one, ("stubborn",), nprocs=2, join=False, start_method="fork")
    with pytest.raises(mp.ProcessRaisedException, match="seven"):
        context.join(grace_period=0.5)
    assert context.processes[0].exitcode == -signal.SIGKILL


def test_an_interrupt_in_join_leaves_no_process(monkeypatch):
    started = []
    join = mp.ProcessContext.join

    def interrupted(self, *args):
        started.extend(self.pids())
        monkeypatch.setattr(mp.ProcessContext, "join", join)
        raise KeyboardInterrupt

    monkeypatch.setattr(mp.ProcessContext, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        start_processes(fail_in_one, ("SIGKILL",), nprocs=2, start_method="fork")
    assert len(started) == 2
    assert not any(map(alive, started))


def test_children_end_with_a_killed_parent(tmp_path):
    process = multiprocessing.get_context("spawn").Process(
        target=spawn_and_be_killed, args=(str(tmp_path),)
    )
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    pids = [int(path.read_text()) for path in tmp_path.glob("*.pid")]
    until = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    assert len(pids) == 2
    assert not any(map(alive, pids))


IGNORED = """
    import os, signal, sys
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    import taeda.multiprocessing as mp

    def well(i): pass
    def exits(i): sys.exit(0)
    def raises(i): assert not i, "number 1"
    def killed(i): i and os.kill(os.getpid(), 9)

    if __name__ == "__main__":
        for function in (well, exits, raises, killed):
            try:
                mp.start_processes(function, nprocs=2, start_method=sys.argv[1])
                print(function.__name__, "well")
            except mp.ProcessException as error:
                print(function.__name__, type(error).__name__, error.error_index)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_where_the_system_reaps_children(method, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(IGNORED))
    command = [sys.executable, str(program), method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.splitlines() == [
        "well well",
        "exits well",
        "raises ProcessRaisedException 1",
        "killed ProcessExitedException 1",
    ], done.stderr
