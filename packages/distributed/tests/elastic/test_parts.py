"""The smaller parts of `elastic`: processes, errors, timers, metrics, events, health, the rendezvous by itself."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from datetime import timedelta

import pytest
from elastic_work import double, sleeper

import taeda.distributed as dist
from taeda.distributed import trace
from taeda.distributed.elastic import control_plane, events, metrics, timer
from taeda.distributed.elastic.agent.server.health_check_server import create_healthcheck_server
from taeda.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std, start_processes, to_map
from taeda.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    record,
)
from taeda.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousParameters,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
)
from taeda.distributed.elastic.rendezvous.c10d_rendezvous_backend import C10dRendezvousBackend
from taeda.distributed.elastic.rendezvous.dynamic_rendezvous import (
    DynamicRendezvousHandler,
    RendezvousTimeout,
)


def test_functions_in_processes(tmp_path):
    envs = {0: {}, 1: {}}
    context = start_processes(
        "double", double, {0: (3,), 1: (5,)}, envs, DefaultLogsSpecs(str(tmp_path / "a"))
    )
    result = context.wait(60)
    assert result.return_values == {0: 6, 1: 10} and not result.is_failed()
    context = start_processes(
        "double", double, {0: (3,), 1: (-5,)}, envs, DefaultLogsSpecs(str(tmp_path / "b"))
    )
    result = context.wait(60)
    assert result.is_failed() and "ValueError: too little" in result.failures[1].message
    with pytest.raises(ValueError, match="local ranks"):
        start_processes("double", double, {0: (1,), 2: (1,)}, envs, DefaultLogsSpecs())


def test_streams():
    assert to_map(Std.OUT, 2) == {0: Std.OUT, 1: Std.OUT}
    assert to_map({1: Std.ERR}, 2) == {0: Std.NONE, 1: Std.ERR}
    with pytest.raises(ValueError, match="0:3"):
        Std.from_str("a:b")


def test_error_files(tmp_path, monkeypatch):
    path = tmp_path / "folder" / "error.json"
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(path))
    with pytest.raises(ZeroDivisionError):
        record(lambda: 1 / 0)()
    failure = ProcessFailure(0, 7, 1, str(path))
    assert "ZeroDivisionError" in failure.message and failure.signal_name() == "<N/A>"
    error = ChildFailedError("train.py", {0: failure, 1: ProcessFailure(1, 8, -9, "none")})
    assert error.get_first_failure()[0] == 1 and "SIGKILL" in str(error)


def test_a_timer_ends_a_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    server = timer.LocalTimerServer(queue, max_interval=0.05)
    server.start()
    process = context.Process(target=sleeper, args=(queue,))
    process.start()
    process.join(60)
    server.stop()
    queue.close()
    assert process.exitcode == -signal.SIGKILL


def test_timers_by_a_pipe(tmp_path):
    path = str(tmp_path / "pipe")
    told = []
    server = timer.FileTimerServer(
        path, "job", 0.05, log_event=lambda name, request: told.append(name)
    )
    caught = []
    before = signal.signal(signal.SIGUSR1, lambda *_: caught.append(1))
    try:
        server.start()
        client = timer.FileTimerClient(path, signal.SIGUSR1)
        client.acquire("kept", time.time() + 60)
        with timer.expires(0.05, "short", client):
            until = time.monotonic() + 10
            while not caught and time.monotonic() < until:
                time.sleep(0.01)
    finally:
        server.stop()
        signal.signal(signal.SIGUSR1, before)
    assert caught and "kill worker process" in told and not os.path.exists(path)
    with pytest.raises(OSError, match="no timer server"):
        client.release("kept")
    timer.api._client = None
    limit = timer.expires(1)
    with pytest.raises(RuntimeError, match="configure"):
        limit.__enter__()


def test_metrics_and_events():
    seen = []

    class Keep(metrics.MetricHandler):
        def emit(self, metric_data):
            seen.append((metric_data.group_name, metric_data.name.rpartition(".")[2]))

    metrics.configure(Keep(), "mine")
    metrics.put_metric("n", 3, "mine")
    metrics.put_metric("dropped", 3)

    @metrics.prof(group="mine")
    def work():
        return 5

    assert work() == 5
    assert seen == [("mine", "n"), ("mine", "success"), ("mine", "ms")]
    event = events.Event("start", events.EventSource.AGENT, metadata={"n": 1})
    assert events.Event.deserialize(event.serialize()) == event
    events.record(event)
    events.construct_and_record_rdzv_event("job", "here", events.NodeState.INIT)
    with pytest.raises(ValueError, match="destination"):
        events.get_logging_handler("smoke")


def test_health():
    alive = [time.time()]
    server = create_healthcheck_server(lambda: alive[0], 0, 5)
    server.start()
    address = f"http://127.0.0.1:{server.port}"
    assert urllib.request.urlopen(address, timeout=10).status == 200
    alive[0] -= 60
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(address, timeout=10)
    assert caught.value.code == 503
    caught.value.close()
    server.stop()


def test_a_process_answers(tmp_path, monkeypatch):
    path = str(tmp_path / "socket")
    monkeypatch.setenv("TAEDA_WORKER_SERVER_SOCKET", path)

    def ask(word):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            sock.sendall(word + b"\n")
            return json.loads(sock.makefile().readline())

    with control_plane.worker_main():
        assert "MainThread" in ask(b"stacks")
        assert isinstance(ask(b"calls"), list)
        assert "no request" in ask(b"\xff\x00")["error"]
    assert not os.path.exists(path)


def handler(store, least, most, **limits):
    timeout = RendezvousTimeout(
        **{name: timedelta(seconds=value) for name, value in limits.items()}
    )
    return DynamicRendezvousHandler.from_backend(
        "job", store, C10dRendezvousBackend(store, "job"), least, most, timeout=timeout
    )


def test_machines_meet_and_more_come():
    store = dist.HashStore()
    first, second, third = (handler(store, 2, 3, join=20, last_call=0.2) for _ in range(3))
    found = {}

    def meet(name, one):
        found[name] = one.next_rendezvous()

    def together(**ones):
        threads = [threading.Thread(target=meet, args=item) for item in ones.items()]
        for thread in threads:
            thread.start()
        return threads

    for thread in together(a=first, b=second):
        thread.join(20)
    assert sorted((found["a"].rank, found["b"].rank)) == [0, 1] and found["a"].world_size == 2
    (late,) = together(c=third)
    until = time.monotonic() + 10
    while first.num_nodes_waiting() != 1:
        assert time.monotonic() < until
        time.sleep(0.01)
    for thread in (*together(a=first, b=second), late):
        thread.join(20)
    assert sorted(found[name].rank for name in "abc") == [0, 1, 2] and found["c"].world_size == 3
    first.set_closed()
    with pytest.raises(RendezvousClosedError):
        second.next_rendezvous()
    assert all(one.shutdown() for one in (first, second, third)) and third.is_closed()


def test_too_few_machines():
    with pytest.raises(RendezvousTimeoutError, match="1 of at least 2"):
        handler(dist.HashStore(), 2, 2, join=0.2).next_rendezvous()


def test_parameters():
    params = RendezvousParameters("static", "host:1", "job", 1, 2, flag="yes", count="3")
    assert (
        params.get_as_bool("flag") is True
        and params.get_as_int("count") == 3
        and params.get("no", 5) == 5
    )
    with pytest.raises(ValueError, match="number"):
        params.get_as_int("flag")
    for wrong in (
        ("", "h", "j", 1, 1),
        ("b", "h", "", 1, 1),
        ("b", "h", "j", 0, 1),
        ("b", "h", "j", 2, 1),
    ):
        with pytest.raises(ValueError):
            RendezvousParameters(*wrong)
    store = dist.HashStore()
    info = RendezvousStoreInfo.build(0, store, "10.0.0.1", 5)
    assert RendezvousStoreInfo.build(1, store) == info == RendezvousStoreInfo("10.0.0.1", 5)


def call(seq, signature="all_reduce(SUM, float32 (3,))", line="a.py:1", state="done"):
    return {
        "group": "0",
        "seq": seq,
        "signature": signature,
        "line": line,
        "state": state,
        "began": float(seq),
    }


def test_traces():
    both = {0: {"calls": [call(1), call(2)]}, 1: {"calls": [call(1), call(2)]}}
    assert trace.verdict(both).startswith("ranks 0, 1 agree")
    both[1]["calls"][1] = call(2, "barrier()", "b.py:9")
    assert trace.verdict(both) == (
        "in group 0, collective 2 differs: rank 0 called all_reduce(SUM, float32 (3,)) at a.py:1 (done); "
        "rank 1 called barrier() at b.py:9 (done)"
    )
    both[1]["calls"].pop()
    assert "rank 1 never came to collective 2, where rank 0 was in all_reduce" in trace.verdict(
        both
    )


def test_dumps_of_a_failure(mpi, tmp_path):
    from ranks import run_ranks

    code = """
dist.init_process_group("gloo", timeout=seconds(1))
for _ in range(3):
    dist.all_reduce(taeda.ones(2))
if rank == 0:
    dist.all_reduce(taeda.ones(5))
else:
    import time; time.sleep(1.5)
    dist.broadcast(taeda.ones(7), 0)
"""
    ended = run_ranks(code, 2, TAEDA_TRACE_DIR=str(tmp_path))
    assert all(one.code for one in ended)
    sentence = trace.verdict(trace.load(tmp_path))
    assert (
        "collective 4 differs" in sentence
        and "all_reduce(SUM, float32 (5,))" in sentence
        and "broadcast" in sentence
    )
    with pytest.raises(ValueError, match="TAEDA_TRACE_DIR"):
        trace.load(tmp_path / "none")
