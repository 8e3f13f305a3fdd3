"""The server of PMI-1: keys, barriers, and strangers."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
import threading

import pytest

from taeda.distributed._mpi import pmi


class Peer:
    """A connection that keeps what it is told."""

    def __init__(self):
        self.rank, self.told = -1, []

    def say(self, text):
        self.told.append(text)


@pytest.fixture
def server():
    return pmi.Server(2, "secret", "(vector,(0,2,1))", "job7")


def admitted(server, rank):
    peer = Peer()
    server.hear(peer, f"secret {rank}")
    assert peer.rank == rank
    return peer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("cmd=init pmi_version=1 pmi_subversion=1",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"),
        ("cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024"),
        ("cmd=get_appnum", "cmd=appnum appnum=0"),
        ("cmd=get_my_kvsname", "cmd=my_kvsname kvsname=job7"),
        ("cmd=get_universe_size", "cmd=universe_size size=2"),
        ("cmd=get kvsname=job7 key=PMI_process_mapping",
            "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))"),
        ("cmd=get kvsname=job7 key=none", "cmd=get_result rc=-1 msg=key_not_found value=unknown"),
        ("cmd=finalize", "cmd=finalize_ack rc=0"),
    ],
)  # fmt: skip
def test_answers(server, line, answer):
    peer = admitted(server, 1)
    server.hear(peer, line)
    assert peer.told == [answer]


def test_keys_are_everybodys_and_a_barrier_waits_for_all(server):
    one, two = admitted(server, 0), admitted(server, 1)
    for _ in range(2):
        server.hear(one, "cmd=put kvsname=job7 key=a value=x=y")
        server.hear(one, "cmd=barrier_in")
        assert one.told == ["cmd=put_result rc=0 msg=success"] and two.told == []
        server.hear(two, "cmd=barrier_in")
        assert one.told.pop() == two.told.pop() == "cmd=barrier_out rc=0"
        server.hear(two, "cmd=get kvsname=job7 key=a")
        assert two.told.pop().endswith("value=x=y")
        one.told.clear()


@pytest.mark.parametrize("line", ["wrong 0", "secret 2", "secret -1", "secret x", "", "cmd=init"])
def test_strangers_are_turned_away(server, line):
    with pytest.raises(ValueError):
        server.hear(Peer(), line)


def test_a_rank_comes_once_and_asks_what_there_is(server):
    peer = admitted(server, 0)
    with pytest.raises(ValueError, match="rank 0 is not expected"):
        server.hear(Peer(), "secret 0")
    with pytest.raises(ValueError, match="no request"):
        server.hear(peer, "cmd=smoke")


@pytest.fixture
def served(server):
    """The server at a port, until its pipe is closed."""
    listener = socket.create_server(("127.0.0.1", 0))
    reader, writer = os.pipe()
    thread = threading.Thread(target=pmi.serve, args=(listener, server, reader))
    thread.start()
    yield listener.getsockname()
    os.close(writer)
    thread.join(20)
    listener.close()
    os.close(reader)
    assert not thread.is_alive()


def test_over_a_socket(served):
    with socket.create_connection(served) as stranger, socket.create_connection(served) as rank:
        stranger.sendall(b"wrong 0\n")
        assert stranger.recv(100) == b""  # closed
        rank.sendall(b"secret 0\ncmd=get_appnum\ncmd=fin")
        assert rank.recv(100) == b"cmd=appnum appnum=0\n"
        rank.sendall(b"alize\n")
        assert rank.recv(100) == b"cmd=finalize_ack rc=0\n"
    with socket.create_connection(served) as noise:
        noise.sendall(b"x" * (pmi.MAX_LINE + 1))
        assert noise.recv(100) == b""


def test_the_program_reads_its_task_and_prints_its_port(monkeypatch, capfd):
    task = {"host": "127.0.0.1", "size": 1, "secret": "s", "mapping": "m", "job": "j"}
    reader, writer = os.pipe()

    class Input(io.StringIO):
        def fileno(self):
            return reader

    monkeypatch.setattr(sys, "stdin", Input(json.dumps(task) + "\n"))
    monkeypatch.setattr(os, "close", lambda descriptor: None)
    os.set_inheritable(writer, False)
    with open(writer, "wb"):
        pass  # an input at its end: the server ends at once, for nobody came
    pmi.main()
    assert int(capfd.readouterr().out) > 0
