"""The process that introduces MPICH's processes to each other: PMI-1, a line protocol of keys and barriers.

Run as a program by rank 0, because starting MPI holds the interpreter's lock and so no thread of a
rank can serve. It reads its task as one line of JSON, prints its port, serves each rank once and
ends when its standard input does. It imports only what it needs, to start quickly. A connection
first sends the secret and its rank on one line.
"""

from __future__ import annotations

import hmac
import json
import os
import selectors
import socket
import sys
import time
from typing import Any

MAX_LINE = 8192
LINGER = 5.0  # seconds that rank 0's end leaves the others


class _Peer:
    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.rank, self.inbox = sock, -1, b""

    def say(self, text: str) -> None:
        self.sock.sendall(text.encode() + b"\n")


class Server:
    """Keys, and one barrier after the other."""

    def __init__(self, size: int, secret: str, mapping: str, job: str) -> None:
        self.size, self.secret, self.job = size, secret.encode(), job
        self.keys = {"PMI_process_mapping": mapping}
        self.waiting: list[_Peer] = []
        self.seen: set[int] = set()

    def hear(self, peer: _Peer, line: str) -> None:
        """Answer a line. ValueError for what is no request."""
        if peer.rank < 0:
            self.admit(peer, line)
            return
        words = dict(part.split("=", 1) for part in line.split(" ") if "=" in part)
        answer = getattr(self, f"on_{words.get('cmd', '')}", None)
        if answer is None:
            raise ValueError(f"no request: {line[:80]!r}")
        answer(peer, words)

    def admit(self, peer: _Peer, line: str) -> None:
        secret, _, rank = line.partition(" ")
        if not hmac.compare_digest(secret.encode(), self.secret):
            raise ValueError("a wrong secret")
        number = int(rank)
        if not 0 <= number < self.size or number in self.seen:
            raise ValueError(f"rank {number} is not expected")
        self.seen.add(number)
        peer.rank = number

    def on_init(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0")

    def on_get_maxes(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024")

    def on_get_appnum(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say("cmd=appnum appnum=0")

    def on_get_my_kvsname(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say(f"cmd=my_kvsname kvsname={self.job}")

    def on_get_universe_size(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say(f"cmd=universe_size size={self.size}")

    def on_put(self, peer: _Peer, words: dict[str, str]) -> None:
        self.keys[words["key"]] = words["value"]
        peer.say("cmd=put_result rc=0 msg=success")

    def on_get(self, peer: _Peer, words: dict[str, str]) -> None:
        value = self.keys.get(words["key"])
        known = f"cmd=get_result rc=0 msg=success value={value}"
        peer.say("cmd=get_result rc=-1 msg=key_not_found value=unknown" if value is None else known)

    def on_barrier_in(self, peer: _Peer, words: dict[str, str]) -> None:
        self.waiting.append(peer)
        if len(self.waiting) == self.size:
            waiting, self.waiting = self.waiting, []
            for other in waiting:
                other.say("cmd=barrier_out rc=0")

    def on_finalize(self, peer: _Peer, words: dict[str, str]) -> None:
        peer.say("cmd=finalize_ack rc=0")


def serve(listener: socket.socket, server: Server, until: Any) -> None:
    """Until `until` has something to read, which is its end, and the other ranks have ended or had
    time to see it.

    MPICH ends a process, by a fault in version 5.0, that is starting when its connection here is closed.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(until, selectors.EVENT_READ)
        selector.register(listener, selectors.EVENT_READ)
        end: float | None = None
        while end is None or (time.monotonic() < end and len(selector.get_map()) > 1):
            for key, _ in selector.select(None if end is None else 0.1):
                if key.fileobj is until:
                    selector.unregister(until)
                    end = time.monotonic() + LINGER
                elif key.fileobj is listener:
                    _accept(listener, selector)
                elif not _read(key.data, server):
                    selector.unregister(key.fileobj)
                    key.data.sock.close()


def _accept(listener: socket.socket, selector: selectors.BaseSelector) -> None:
    try:
        sock, _ = listener.accept()
    except OSError:
        # it left before we came, or strangers hold all descriptors: the first of them goes
        strangers = [k.data for k in selector.get_map().values() if k.data and k.data.rank < 0]
        for peer in strangers[:1]:
            selector.unregister(peer.sock)
            peer.sock.close()
        return
    selector.register(sock, selectors.EVENT_READ, _Peer(sock))


def _read(peer: _Peer, server: Server) -> bool:
    """Take what came; False if the connection is over."""
    try:
        data = peer.sock.recv(65536)
        peer.inbox += data
        while b"\n" in peer.inbox:
            line, _, peer.inbox = peer.inbox.partition(b"\n")
            server.hear(peer, line.decode())
    except (OSError, ValueError, KeyError):  # it left, or it speaks something else
        return False
    return bool(data) and len(peer.inbox) <= MAX_LINE


def main() -> None:
    task = json.loads(sys.stdin.readline())
    listener = socket.create_server(
        (task["host"], 0), family=socket.AF_INET6 if ":" in task["host"] else socket.AF_INET
    )
    print(listener.getsockname()[1], flush=True)
    os.close(1)
    with listener:
        server = Server(task["size"], task["secret"], task["mapping"], task["job"])
        serve(listener, server, sys.stdin.fileno())


if __name__ == "__main__":
    main()
