"""A process answers questions at its socket."""

from __future__ import annotations

import json
import os
import socket

from taeda.distributed.elastic import control_plane


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
