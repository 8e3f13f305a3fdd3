"""Timers by a pipe."""

from __future__ import annotations

import os
import signal
import time

import pytest

from taeda.distributed.elastic import timer


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
