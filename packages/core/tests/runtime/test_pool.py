"""Threads and instruction sets: how many, which, and that results do not depend on them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

import taeda


def run(code, **environment):
    """Standard output of a fresh interpreter."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize(("value", "threads"), [("3", "3"), ("2,4", "2")])
def test_the_environment_sets_the_number_of_threads(value, threads):
    assert run("import taeda; print(taeda.get_num_threads())", OMP_NUM_THREADS=value) == threads


def test_ours_wins_over_those_of_the_field():
    code = "import taeda; print(taeda.get_num_threads())"
    field = {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "3"}
    assert run(code, **field) == "3"
    assert run(code, **field, TAEDA_NUM_THREADS="5") == "5"
    assert run(code, **field, TAEDA_NUM_THREADS="many") == "3"


@pytest.mark.parametrize("value", ["", "0", "-2", "many"])
def test_otherwise_there_is_a_thread_for_each_core(value):
    cores = len(os.sched_getaffinity(0))
    got = run("import taeda; print(taeda.get_num_threads())", OMP_NUM_THREADS=value)
    assert got == str(cores)


def test_the_number_can_be_changed_at_any_time():
    before = taeda.get_num_threads()
    wanted = taeda.randn(300_000, generator=taeda.Generator().manual_seed(2)).tolist()
    try:
        for n in (1, 4, 2, 300):
            taeda.set_num_threads(n)
            assert taeda.get_num_threads() == n
            got = taeda.randn(300_000, generator=taeda.Generator().manual_seed(2)).tolist()
            assert got == wanted
    finally:
        taeda.set_num_threads(before)


def test_python_threads_may_compute_at_once():
    wanted = taeda.randn(300_000, generator=taeda.Generator().manual_seed(2)).tolist()
    right = []

    def work():
        for _ in range(5):
            g = taeda.Generator().manual_seed(2)
            right.append(taeda.randn(300_000, generator=g).tolist() == wanted)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert right == [True] * 20


SUMS = """
import taeda
g = taeda.Generator().manual_seed(1)
x = taeda.randn(1001, generator=g)
y, _ = taeda.native_dropout(x, 0.5, True)
taeda._fused_sgd_([x], [y], [], weight_decay=0.1, momentum=0.0, lr=0.1, dampening=0.0,
                  nesterov=False, maximize=False, is_first_step=False)
z = taeda.empty(77).exponential_(generator=g)
print(x.tolist(), y.tolist(), z.tolist(), taeda._global_norm([x, y]).item())
"""


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512"])
def test_instruction_sets_agree_to_the_bit(isa):
    assert run(SUMS, TAEDA_ISA=isa) == run(SUMS)


BLOCKED = """
import os, signal, taeda, time
taeda.set_num_threads(3)
taeda.ones(1 << 20).exp()
me = str(os.getpid())
def open_to(task):
    facts = dict(line.split(":", 1) for line in open(f"/proc/self/task/{task}/status"))
    bits = int(facts["SigBlk"], 16)
    return {n.name for n in signal.valid_signals() - {*range(32, 65)} if not bits >> n - 1 & 1}
def is_worker(task):
    return task != me and open(f"/proc/self/task/{task}/comm").read().startswith("python")
end = time.monotonic() + 20
for task in filter(is_worker, os.listdir("/proc/self/task")):
    # glibc blocks all that can be blocked until a thread has begun
    while open_to(task) == {"SIGKILL", "SIGSTOP"} and time.monotonic() < end:
        time.sleep(0.01)
    print(*sorted(open_to(task)))
"""


def test_workers_leave_signals_to_the_program_but_for_those_of_their_own_faults():
    lines = run(BLOCKED, OMP_NUM_THREADS="3").splitlines()
    own = {"SIGBUS", "SIGSEGV", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"}
    assert any(set(line.split()) - {"SIGKILL", "SIGSTOP"} == own for line in lines)
    assert all(own <= set(line.split()) for line in lines)
