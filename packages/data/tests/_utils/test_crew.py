"""What happens when workers fail, hang, or are left alone."""

from __future__ import annotations

import gc
import os
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import pytest
from forks import descriptors
from loader_data import Numbers, fail, no_more_files, together

import taeda
from taeda.utils.data import DataLoader, TensorDataset

LOST = r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly: worker 0 "
CAUGHT = r"Caught {} in DataLoader worker process 0, batch 4, sample 9"
FAILURES = {
    "killed": (RuntimeError, LOST + r"was ended by SIGKILL .* at sample 9 of batch 4"),
    "segfault": (RuntimeError, LOST + r"was ended by SIGSEGV at sample 9 of batch 4.*in string_at"),
    "abort": (RuntimeError, LOST + "was ended by SIGABRT at sample 9 of batch 4.*loader_data.py"),
    "exit": (RuntimeError, LOST + "exited with code 0 at sample 9 of batch 4"),
    "hard exit": (RuntimeError, LOST + "exited with code 3 at sample 9 of batch 4"),
    "raise": (ValueError, CAUGHT.format("ValueError") + r".*ValueError: a bad sample"),
    "key": (KeyError, CAUGHT.format("KeyError") + r".*Traceback.*no\\nsuch key"),
    "unusual": (RuntimeError, CAUGHT.format("Unusual")),
    "memory": (MemoryError, CAUGHT.format("OutOfMemoryError")),
    "sleep": (
        RuntimeError,
        r"timed out after 0.5 seconds.*worker 0 .*at sample 9 of batch 4.*_sleep",
    ),
    "function": (
        Exception,
        r"batch 4, samples \[8, 9\], while the batch was packed .* local object",
    ),
    "history": (RuntimeError, r"samples \[8, 9\].*requires grad and is no leaf"),
}


def loader_with(fate, **options):
    options = {"batch_size": 2, "num_workers": 2, "collate_fn": together, **options}
    return DataLoader(Numbers(20, at={9: fate}), timeout=0.5 if fate == "sleep" else 0, **options)


@pytest.mark.parametrize("fate", FAILURES)
def test_a_failure_names_its_cause_the_worker_and_the_sample(fate):
    error, message = FAILURES[fate]
    start = time.monotonic()
    with pytest.raises(error) as caught:
        list(loader_with(fate))
    assert re.search(message, str(caught.value), re.DOTALL)
    assert time.monotonic() - start < 30  # against a hang; benchmarks/loader.py has the figures


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_failures_are_seen_however_the_worker_was_started(method):
    for fate in ("killed", "raise"):
        error, message = FAILURES[fate]
        with pytest.raises(error) as caught:
            list(loader_with(fate, multiprocessing_context=method))
        assert re.search(message, str(caught.value), re.DOTALL)


@pytest.mark.parametrize("persistent", [False, True])
def test_an_exception_costs_one_batch(persistent):
    loader = loader_with("raise", persistent_workers=persistent)
    batches, got = iter(loader), []
    for _ in range(10):
        try:
            got += next(batches)
        except ValueError:
            got.append("failed")
    assert got == [*range(8), "failed", *range(10, 20)]
    assert next(batches, None) is None


@pytest.mark.parametrize("persistent", [False, True])
def test_a_lost_worker_ends_the_pass_and_no_process_stays(persistent):
    loader = loader_with("killed", persistent_workers=persistent)
    batches = iter(loader)
    members = list(batches._crew.members)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(batches)
    assert not any(map(alive, members))
    with pytest.raises(RuntimeError, match="make a new iterator"):
        next(batches)
    loader.dataset.at.clear()
    assert len(list(loader)) == 10


def test_a_lost_worker_is_seen_where_the_system_has_no_pidfd(monkeypatch):
    def forbidden(pid):
        raise PermissionError("pidfd_open")

    monkeypatch.setattr(os, "pidfd_open", forbidden)
    for method in ("fork", "forkserver"):
        with pytest.raises(RuntimeError, match="SIGKILL"):
            list(loader_with("killed", multiprocessing_context=method))


def test_worker_init_fn_that_fails():
    loader = DataLoader(Numbers(3), num_workers=2, worker_init_fn=fail)
    with pytest.raises(ValueError, match="DataLoader worker process 0, in worker_init_fn"):
        list(loader)


def alive(member):
    try:
        os.kill(member.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_iterator_that_is_dropped_ends_its_workers():
    batches = iter(DataLoader(Numbers(100), num_workers=2))
    next(batches)
    members = list(batches._crew.members)
    assert all(map(alive, members))
    del batches
    gc.collect()
    assert not any(map(alive, members))


def test_an_exhausted_iterator_has_no_workers():
    batches = iter(DataLoader(Numbers(3), num_workers=2))
    members = list(batches._crew.members)
    list(batches)
    assert not any(map(alive, members))
    assert next(batches, None) is None


def test_without_shared_memory_batches_are_copied():
    data = TensorDataset(taeda.rand(8, 3000))
    loader = DataLoader(data, batch_size=2, num_workers=2, worker_init_fn=no_more_files)
    with pytest.warns(UserWarning, match="could not make shared memory .*large") as seen:
        batches = [x for (x,) in loader]
    assert taeda.equal(taeda.cat(batches), data.tensors[0]) and len(seen) == 1


def test_when_descriptors_run_short_batches_are_copied():
    import resource

    data = TensorDataset(taeda.rand(8, 3000))
    batches = iter(DataLoader(data, batch_size=2, num_workers=1))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    try:
        got = [x for (x,) in batches]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert taeda.equal(taeda.cat(got), data.tensors[0])


def test_many_kept_batches_need_no_descriptors():
    before = len(os.listdir("/proc/self/fd"))
    data = TensorDataset(taeda.rand(200, 1000))
    batches = iter(DataLoader(data, batch_size=1, num_workers=1))
    kept = [next(batches) for _ in range(150)]
    assert len(os.listdir("/proc/self/fd")) < before + 12
    assert taeda.equal(kept[149][0], data.tensors[0][149:150])


def test_a_forked_child_cannot_use_the_iterator_of_its_parent():
    batches = iter(DataLoader(Numbers(50), num_workers=1))
    next(batches)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            for _ in batches:
                pass
        except RuntimeError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert len(list(batches)) == 49


# ---- the main process ----

SCRIPT = """
import os, signal, sys, time
sys.path[:0] = {path!r}
from loader_data import Numbers
from taeda.utils.data import DataLoader

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
    data = Numbers(100, at={at!r})
    loader = DataLoader(data, num_workers=2, multiprocessing_context={method!r})
    batches = iter(loader)
    for _ in range(5):
        next(batches)
    print(*(member.pid for member in batches._crew.members), flush=True)
    {then}
"""


def run(tmp_path, then, method="fork", at=None, session=True):
    script = tmp_path / "main.py"
    text = textwrap.dedent(SCRIPT).format(path=sys.path, at=at or {}, method=method, then=then)
    script.write_text(text)
    process = subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=session,
    )
    pids = list(map(int, process.stdout.readline().split()))
    return process, pids


def wait_until_gone(pids):
    for _ in range(300):
        if not any(Path(f"/proc/{pid}").exists() and not zombie(pid) for pid in pids):
            return
        time.sleep(0.05)
    pytest.fail(f"still there: {[pid for pid in pids if Path(f'/proc/{pid}').exists()]}")


def zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def shared_files():
    return (
        {p for p in os.listdir("/dev/shm") if "taeda" in p} if os.path.isdir("/dev/shm") else set()
    )


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ctrl_c_leaves_nothing_and_says_little(tmp_path, method):
    before = shared_files()
    process, pids = run(tmp_path, "time.sleep(60)", method)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    wait_until_gone(pids)
    assert process.returncode != 0 and said.count("KeyboardInterrupt") == 1
    assert len(said.splitlines()) < 12
    assert shared_files() <= before


@pytest.mark.parametrize("at", [{}, {5: "sleep", 6: "sleep"}], ids=["idle", "stuck"])
def test_workers_do_not_outlive_a_parent_that_was_killed(tmp_path, at):
    process, pids = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", at=at)
    process.communicate(timeout=30)
    wait_until_gone(pids)


def test_a_program_may_end_in_the_middle_of_an_epoch(tmp_path):
    process, pids = run(tmp_path, "pass")
    said = process.communicate(timeout=30)[1]
    wait_until_gone(pids)
    assert process.returncode == 0 and said == ""


def test_no_warning_is_left_behind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            next(iter(DataLoader(Numbers(10), num_workers=2)))
            gc.collect()


# ---- Ctrl-C while the workers are sent home ----

INTERRUPTED = """
import gc, multiprocessing, os, signal, sys, threading, time
from taeda.utils.data import DataLoader

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it

class Slow:
    def __len__(self):
        return 100
    def __getitem__(self, i):
        time.sleep(0.4)
        return i

def left():
    gc.collect()
    return len(os.listdir("/proc/self/fd")), len(multiprocessing.active_children())

def interrupted(delay, dropped):
    loader = DataLoader(Slow(), 1, num_workers=2)
    batches = iter(loader)
    next(batches)
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        if not dropped:
            batches._crew.dismiss()
        del batches
        time.sleep(1)
        return False
    except KeyboardInterrupt:
        return True
    finally:
        timer.join()

interrupted(0.9, True)
before = left()
delays = (0.03, 0.08, 0.15)
print([interrupted(d, dropped) for d in delays for dropped in (True, False)], left() == before)
"""


def test_an_interrupt_while_workers_are_sent_home_arrives_and_leaves_nothing():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == f"{[True] * 6} True", done.stderr
    assert done.stderr == ""


# ---- the beginning and the end of descriptors ----


def _end(worker):
    os._exit(7)


def test_a_worker_that_ends_in_its_init_function_is_said_to():
    for _ in range(5):
        with pytest.raises(RuntimeError, match="exited with code 7 in worker_init_fn or before"):
            list(DataLoader(Numbers(4), num_workers=1, worker_init_fn=_end))


def test_starting_without_descriptors_loses_none():
    before = descriptors()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    refused = 0
    for room in range(1, 30):
        resource.setrlimit(resource.RLIMIT_NOFILE, (before + room, limit[1]))
        try:
            next(iter(DataLoader(Numbers(4), num_workers=1)))
        except (OSError, RuntimeError):
            refused += 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    assert refused > 2
    assert descriptors() == before


IGNORED = """
    import os, signal, sys
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    from taeda.utils.data import DataLoader

    class Killed:
        def __len__(self): return 20
        def __getitem__(self, i): return os.kill(os.getpid(), 9) if i == 9 else i

    if __name__ == "__main__":
        method = sys.argv[1]
        def total():
            loader = DataLoader(range(20), 5, num_workers=2, multiprocessing_context=method)
            return sum(int(b.sum()) for b in loader)
        first = total()
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            assert total() == first == 190
        assert len(os.listdir("/proc/self/fd")) == before
        try:
            list(DataLoader(Killed(), 5, num_workers=2, multiprocessing_context=method))
        except RuntimeError as error:
            print(error)
        import gc; gc.collect()
        assert len(os.listdir("/proc/self/fd")) == before
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_where_the_system_reaps_children(method, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(IGNORED))
    command = [sys.executable, str(program), method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "exited unexpectedly: worker 1 " in done.stdout
    assert "at sample 9 of batch 1" in done.stdout


def test_a_daemon_thread_at_the_end_of_the_program_says_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
        import threading, time
        from taeda.utils.data import DataLoader

        def read():
            while True:
                for _ in DataLoader(range(1000), 2, num_workers=2, multiprocessing_context="fork"):
                    seen.set()

        seen = threading.Event()
        threading.Thread(target=read, daemon=True).start()
        seen.wait()
    """)
    )
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
