"""`taedarun` on real programs: environment, logs, errors, restarts, and that nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from taeda.distributed._meeting.peers import state_of

PROGRAM = """
import json, os, sys, time, signal
rank = int(os.environ["RANK"])
{body}
"""


def start(tmp_path, body, *flags, module="run", **more):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(body=body))
    command = [
        sys.executable,
        "-m",
        f"taeda.distributed.{module}",
        "--log-dir",
        str(tmp_path / "logs"),
        *flags,
        str(path),
    ]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")
    }
    return subprocess.Popen(command, env={**env, **more}, **pipes)


def run(tmp_path, body, *flags, timeout=90, **more):
    process = start(tmp_path, body, *flags, **more)
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()
    return process.returncode, out, err


def test_the_environment(tmp_path):
    body = 'sys.stdout.write(json.dumps({**os.environ, "argv": sys.argv[1:]}) + chr(10))'
    code, out, err = run(
        tmp_path, body, "--nproc-per-node", "2", "--max-restarts", "3", "--role", "trainer"
    )
    assert code == 0, err
    found = sorted((json.loads(line) for line in out.splitlines()), key=lambda e: e["RANK"])
    for rank, env in enumerate(found):
        wanted = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "GROUP_RANK": 0,
                  "GROUP_WORLD_SIZE": 1, "ROLE_RANK": rank, "ROLE_WORLD_SIZE": 2, "ROLE_NAME": "trainer",
                  "TORCHELASTIC_RESTART_COUNT": 0, "TORCHELASTIC_MAX_RESTARTS": 3,
                  "OMP_NUM_THREADS": 1}  # fmt: skip
        assert {name: env[name] for name in wanted} == {n: str(v) for n, v in wanted.items()}
        assert env["MASTER_ADDR"] == "127.0.0.1" and int(env["MASTER_PORT"]) > 0
        assert os.path.dirname(env["TORCHELASTIC_ERROR_FILE"]) and env["TAEDA_STORE_SECRET"]
    assert "OMP_NUM_THREADS" in err


def test_the_first_failure_is_the_root_cause(tmp_path):
    body = """
from taeda.distributed.elastic.multiprocessing.errors import record
@record
def main():
    if rank == 1:
        raise KeyError("the cause")
    time.sleep(60)
main()
"""
    start_time = time.monotonic()
    code, _, err = run(tmp_path, body, "--nproc-per-node", "2")
    assert code == 1 and time.monotonic() - start_time < 40
    assert (
        "Root cause" in err
        and "rank 1" in err
        and "KeyError: 'the cause'" in err
        and "in main" in err
    )


def test_survivors_say_whom_they_miss(mpi, tmp_path):
    body = """
import taeda, taeda.distributed as dist
dist.init_process_group("gloo")
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(taeda.ones(3))
"""
    code, _, err = run(tmp_path, body, "--nproc-per-node", "2")
    assert code == 1
    assert "DistPeerDiedError" in err and "process of rank 1 has ended" in err
    assert "Signal 9 (SIGKILL)" in err.split("Other failures")[0]


def test_restarts(mpi, tmp_path):
    body = """
import taeda, taeda.distributed as dist
count = os.environ["TORCHELASTIC_RESTART_COUNT"]
dist.init_process_group("gloo")
x = taeda.ones(1)
dist.all_reduce(x)
if count < "2" and rank == int(count):
    os._exit(7)
dist.all_reduce(x)
sys.stdout.write(f"rank {rank} ended in attempt {count} with {x.item()}\\n")
"""
    code, out, err = run(tmp_path, body, "--nproc-per-node", "2", "--max-restarts", "2")
    assert code == 0, err
    assert sorted(out.splitlines()) == [f"rank {r} ended in attempt 2 with 4.0" for r in range(2)]
    code, _, err = run(tmp_path, body, "--nproc-per-node", "2", "--max-restarts", "1")
    assert code == 1 and "exitcode 7" in err


def test_logs(tmp_path):
    body = 'print(f"out {rank}"); print(f"err {rank}", file=sys.stderr)'
    code, out, err = run(
        tmp_path,
        body,
        "--nproc-per-node",
        "2",
        "--redirects",
        "0:3",
        "--tee",
        "1:1",
        "--rdzv-id",
        "job",
    )
    assert code == 0, err
    folder = tmp_path / "logs" / "job" / "attempt_0"
    assert (folder / "0" / "stdout.log").read_text() == "out 0\n"
    assert (folder / "0" / "stderr.log").read_text() == "err 0\n"
    assert (folder / "1" / "stdout.log").read_text() == "out 1\n"
    assert "[default1]:out 1" in out and "out 0" not in out and "err 1" in err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_it(tmp_path, number):
    body = """
with open(sys.argv[0] + str(rank), "w") as file:
    file.write(str(os.getpid()))
time.sleep(60)
"""
    process = start(tmp_path, body, "--nproc-per-node", "2")
    try:
        files = [tmp_path / f"program.py{rank}" for rank in range(2)]
        until = time.monotonic() + 60
        while not all(file.exists() and file.read_text() for file in files):
            assert time.monotonic() < until
            time.sleep(0.02)
        pids = [int(file.read_text()) for file in files]
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    if number == signal.SIGTERM:
        assert process.returncode == 128 + signal.SIGTERM and "SIGTERM" in err
    until = time.monotonic() + 10
    while any(state_of(pid) != "gone" for pid in pids):
        assert time.monotonic() < until, "a rank outlived taedarun"
        time.sleep(0.05)


def test_two_agents_meet(mpi, tmp_path):
    """Two agents on one machine, as if they were two: by the static way, and by c10d with a machine
    too many wanted.
    """
    body = """
import taeda, taeda.distributed as dist
dist.init_process_group("gloo")
x = taeda.tensor([float(rank)])
dist.all_reduce(x)
print(f"rank {rank} of {dist.get_world_size()}: {x.item()}")
"""
    from ranks import free_port

    for backend in ("static", "c10d"):
        port = free_port()
        both = []
        for node in range(2):
            folder = tmp_path / f"{backend}{node}"
            folder.mkdir()
            flags = ["--nproc-per-node", "1", "--rdzv-id", "job"]
            if backend == "static":
                flags += ["--nnodes", "2", "--node-rank", str(node), "--master-port", str(port)]
            else:
                conf = ["--rdzv-conf", "last_call_timeout=2,join_timeout=60"]
                flags += [
                    "--nnodes",
                    "2:3",
                    "--rdzv-backend",
                    "c10d",
                    "--rdzv-endpoint",
                    f"127.0.0.1:{port}",
                    *conf,
                ]
            both.append(start(folder, body, *flags, TAEDA_STORE_SECRET="shared"))
        try:
            ended = [process.communicate(timeout=90) for process in both]
        finally:
            for process in both:
                process.kill()
        assert [process.returncode for process in both] == [0, 0], ended
        lines = sorted(line for out, _ in ended for line in out.splitlines())
        assert lines == ["rank 0 of 2: 1.0", "rank 1 of 2: 1.0"]


def test_the_older_launcher(tmp_path):
    code, out, err = run(
        tmp_path,
        "sys.stdout.write(str(sys.argv[1:]) + chr(10))",
        "--nproc-per-node",
        "2",
        module="launch",
    )
    assert code == 0, err
    assert sorted(out.splitlines()) == ["['--local-rank=0']", "['--local-rank=1']"]
    assert "FutureWarning" in err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--nproc-per-node", "zero"], "is a number"),
        (["--nproc-per-node", "0"], "at least 1"),
        (["--nnodes", "1:x"], "MIN:MAX"),
        (["--nnodes", "1:2"], "c10d"),
        (["--rdzv-backend", "smoke"], "no rendezvous backend"),
        (["--nnodes", "2", "--node-rank", "2"], "outside"),
    ],
)
def test_wrong_flags(tmp_path, flags, words):
    code, _, err = run(tmp_path, "", *flags)
    assert code != 0 and words in err


CHILD = """
import subprocess
child = subprocess.Popen(["sleep", "60"])
with open(sys.argv[0] + str(rank), "w") as file:
    file.write(str(child.pid))
"""


def children(tmp_path, process):
    files = [tmp_path / f"program.py{rank}" for rank in range(2)]
    until = time.monotonic() + 60
    while not all(file.exists() and file.read_text() for file in files):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)
    return [int(file.read_text()) for file in files]


def test_children_of_ranks_end_with_it(tmp_path):
    process = start(tmp_path, CHILD + "time.sleep(60)", "--nproc-per-node", "2")
    try:
        pids = children(tmp_path, process)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert [state_of(pid) for pid in pids] == ["gone", "gone"]


@pytest.mark.parametrize("code", [0, 3])
def test_children_of_ranks_that_ended_end_too(tmp_path, code):
    process = start(tmp_path, CHILD + f"sys.exit({code})", "--nproc-per-node", "2")
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == bool(code), err
    files = [tmp_path / f"program.py{rank}" for rank in range(2)]
    assert [state_of(int(file.read_text())) for file in files] == ["gone", "gone"]


def test_a_signal_that_is_ignored_stays_ignored(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        process = start(tmp_path, CHILD + "time.sleep(1)", "--nproc-per-node", "2")
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        children(tmp_path, process)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err


def test_exit_codes_are_seen_where_the_caller_ignores_its_children(tmp_path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        process = start(tmp_path, "sys.exit(5)", "--nproc-per-node", "2")
    finally:
        signal.signal(signal.SIGCHLD, before)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1 and "exitcode 5" in err


def test_lines_of_ranks_are_whole(tmp_path):
    body = """
for number in range(300):
    print("word", rank, number, flush=True)
    print("word", rank, number, file=sys.stderr)
"""
    code, out, err = run(tmp_path, body, "--nproc-per-node", "3")
    assert code == 0
    wanted = sorted(f"word {rank} {number}" for rank in range(3) for number in range(300))
    assert sorted(out.splitlines()) == wanted
    assert sorted(line for line in err.splitlines() if "taedarun" not in line) == wanted


@pytest.mark.parametrize("code", [0, 3])
def test_it_leaves_no_folder_behind(tmp_path, code):
    path, temporary = tmp_path / "program.py", tmp_path / "tmp"
    temporary.mkdir()
    path.write_text(f"raise SystemExit({code})")
    command = [sys.executable, "-m", "taeda.distributed.run", "--nproc-per-node", "2"]
    env = {**os.environ, "TMPDIR": str(temporary)}
    for flags, left in (([], 0), (["--redirects", "3"], 1)):
        done = subprocess.run(
            [*command, *flags, str(path)], env=env, timeout=60, capture_output=True
        )
        assert done.returncode == bool(code)
        assert len(list(temporary.glob("taedarun_*"))) == left


@pytest.mark.parametrize(
    ("ends", "words"),
    [('raise ValueError("the cause")', "ValueError: the cause"), ("os._exit(7)", "exitcode 7")],
)
def test_who_ended_first_is_the_root_cause_without_record(mpi, tmp_path, ends, words):
    body = f"""
import taeda, taeda.distributed as dist
dist.init_process_group("gloo")
dist.all_reduce(taeda.ones(3))
if rank == 1:
    {ends}
dist.all_reduce(taeda.ones(3))
"""
    code, _, err = run(tmp_path, body, "--nproc-per-node", "2")
    cause, _, others = err.partition("Root cause")[2].partition("Other failures")
    assert code == 1 and "rank 1" in cause and words in cause, err
    assert "rank 0" in others and ("gave up" in others or "DistPeerDiedError" in others)


#: rank 0 ends when rank 1 has: a process that nobody has waited for yet is a zombie
ENDS_SECOND = """
from pathlib import Path
note = Path(__file__).with_name("pid")
if rank == 1:
    note.with_suffix(".new").write_text(str(os.getpid()))
    note.with_suffix(".new").rename(note)
    os._exit(8)
def ended():
    try:
        return Path(f"/proc/{note.read_text()}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except ProcessLookupError:
        return True
    except FileNotFoundError:
        return note.exists()
while not ended():
    time.sleep(0.01)
os._exit(7)
"""


def test_who_ended_first_is_the_root_cause_without_a_group(tmp_path):
    for _ in range(3):
        (tmp_path / "pid").unlink(missing_ok=True)
        code, _, err = run(
            tmp_path, ENDS_SECOND, "--nproc-per-node", "2", "--monitor-interval", "1"
        )
        assert code == 1 and "exitcode 8" in err.partition("Root cause")[2].partition("Other")[0], (
            err
        )
