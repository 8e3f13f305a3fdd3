"""A server that says whether an agent is alive."""

from __future__ import annotations

import time
import urllib.error
import urllib.request

import pytest

from taeda.distributed.elastic.agent.server.health_check_server import create_healthcheck_server


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
