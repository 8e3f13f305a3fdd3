"""Timers: a client in the process, a server in the agent."""

from __future__ import annotations

import time

import pytest

from taeda.distributed.elastic.timer import api
from taeda.distributed.elastic.timer.api import TimerClient, TimerRequest, TimerServer


class Client(TimerClient):
    def __init__(self):
        self.told = []

    def acquire(self, scope_id, expiration_time):
        self.told.append(("acquire", scope_id, expiration_time))

    def release(self, scope_id):
        self.told.append(("release", scope_id))


class Server(TimerServer):
    """Its queue is a list; workers are ended by name, and "stuck" never is."""

    def __init__(self, requests):
        super().__init__(requests, max_interval=0.01)
        self.timers, self.ended = {}, []

    def register_timers(self, timer_requests):
        for request in timer_requests:
            self.timers.setdefault(request.worker_id, []).append(request)

    def clear_timers(self, worker_ids):
        for worker in worker_ids:
            del self.timers[worker]

    def get_expired_timers(self, deadline):
        late = {w: [r for r in rs if r.expiration_time < deadline] for w, rs in self.timers.items()}
        return {worker: requests for worker, requests in late.items() if requests}

    def _reap_worker(self, worker_id):
        self.ended.append(worker_id)
        if worker_id == "last":
            self._stop.set()
        return worker_id != "stuck"

    def _take(self, limit):
        taken = self._queue[:]
        self._queue.clear()
        return taken


def test_a_block_sets_a_limit_and_takes_it_back(monkeypatch):
    monkeypatch.setattr(api, "_client", None)
    with pytest.raises(RuntimeError, match="configure"), api.expires(5):
        pass
    client, before = Client(), time.time()
    api.configure(client)
    with api.expires(5, "mine"):
        assert client.told[0][:2] == ("acquire", "mine")
        assert 5 <= client.told[0][2] - before < 65
    assert client.told[1] == ("release", "mine")


def test_an_unnamed_scope_is_its_line_and_is_released_after_an_error():
    client = Client()
    with pytest.raises(KeyError), api.expires(5, client=client):
        raise KeyError
    (_, name, _), release = client.told
    assert "test_api.py" in name and release == ("release", name)


def test_workers_whose_limits_have_passed_are_ended():
    server = Server([])
    server.register_timers([
        TimerRequest("a", "s", 1.0), TimerRequest("b", "s", time.time() + 600),
        TimerRequest("stuck", "s", 2.0),
    ])  # fmt: skip
    server._end_expired()
    assert server.ended == ["a", "stuck"] and set(server.timers) == {"b", "stuck"}


def test_the_server_looks_on_a_thread_of_its_own():
    server = Server([TimerRequest("last", "s", 1.0)])
    server.start()
    server._thread.join(20)
    server.stop()
    server.stop()
    assert server.ended == ["last"] and server.timers == {} and server._queue == []
