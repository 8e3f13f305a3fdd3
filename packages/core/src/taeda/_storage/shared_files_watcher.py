"""The process that removes files of shared memory once nobody holds them, however their holders ended.

Run as a program with a listening socket as standard input and the beginning of its files' names as
argument. Every process that holds such files is connected, and says in packets

    +name   I hold it            Fname   a message that speaks of it is under way
    -name   I hold it no longer  fname   such a message has arrived
    ?       answer, all before is done    !   I end in good order

A process that is gone holds nothing. Messages of one that ended in good order stay under way; those
of one that was killed are given up after a few seconds. When the last process is gone all is
removed, and this program ends.

The socket has a name that every user of the machine can see and connect to. So a process of another
user is turned away, no file is removed but those this program watches over, and one that says
anything else is taken for gone.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import socket
import struct
import sys
import time
from collections import Counter

GRACE = 5.0  # seconds that messages of a killed process may still be read


class Holder:
    """A connected process."""

    def __init__(self) -> None:
        self.holds: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.orderly = False


class Watcher:
    """Who holds what, and what follows from it."""

    def __init__(self, listening: socket.socket, beginning: str) -> None:
        self.listening = listening
        self.own_name = re.compile(re.escape(beginning) + "[0-9]{1,20}-[0-9]{1,20}", re.ASCII)
        self.selector = selectors.DefaultSelector()
        self.selector.register(listening, selectors.EVENT_READ)
        self.holders: dict[socket.socket, Holder] = {}
        self.holds: Counter[str] = Counter()
        self.under_way: Counter[str] = Counter()
        self.given_up: list[tuple[float, Counter[str]]] = []

    def run(self) -> None:
        """Serve until the last process is gone."""
        started = False
        while self.holders or not started:
            for key, _ in self.selector.select(0.5 if self.given_up else None):
                if key.fileobj is self.listening:
                    started |= self.accept()
                else:
                    self.read(key.fileobj)  # type: ignore[arg-type]  # only sockets are registered
            self.give_up(time.monotonic())
        for name in set(self.holds) | set(self.under_way):
            _remove(name)

    def accept(self) -> bool:
        """Whether a process of our own user has come in."""
        try:
            connection, _ = self.listening.accept()
        except OSError:
            # it has gone again, or descriptors are out: those inside are served meanwhile
            time.sleep(0.01)
            return False
        if peer_uid(connection) != os.geteuid():
            connection.close()
            return False
        # a process that reads no answer must not keep the others waiting
        connection.setblocking(False)
        self.holders[connection] = Holder()
        self.selector.register(connection, selectors.EVENT_READ)
        return True

    def read(self, connection: socket.socket) -> None:
        try:
            understood = self.heed(connection, connection.recv(4096))
        except OSError:
            understood = False
        if not understood:
            self.leave(connection)

    def heed(self, connection: socket.socket, packet: bytes) -> bool:
        """Do what a packet says; False if it is the last one, or says nothing that a holder says."""
        word, name = packet[:1], packet[1:].decode("ascii", "replace")
        holder = self.holders[connection]
        if packet == b"?":
            connection.send(b"!")
        elif packet == b"!":
            holder.orderly = True
        elif word not in (b"+", b"-", b"F", b"f") or not self.own_name.fullmatch(name):
            return False
        elif word in (b"+", b"-"):
            self.count(holder, name, 1 if word == b"+" else -1)
        else:
            step = 1 if word == b"F" else -1
            holder.sent[name] += max(step, 0)
            self.under_way[name] += step
            self.settle(name)
        return True

    def count(self, holder: Holder, name: str, step: int) -> None:
        if holder.holds[name] + step < 0:
            return  # nobody takes back what another holds
        holder.holds[name] += step
        self.holds[name] += step
        self.settle(name)

    def leave(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        connection.close()
        holder = self.holders.pop(connection)
        if not holder.orderly and holder.sent:
            self.given_up.append((time.monotonic() + GRACE, holder.sent))
        self.holds.subtract(holder.holds)
        for name in holder.holds:
            self.settle(name)

    def give_up(self, now: float) -> None:
        while self.given_up and self.given_up[0][0] <= now:
            _, sent = self.given_up.pop(0)
            for name in sent:
                self.under_way[name] = 0  # what has arrived by now is held
                self.settle(name)

    def settle(self, name: str) -> None:
        if self.holds[name] <= 0 and self.under_way[name] <= 0:
            _remove(name)
            del self.holds[name], self.under_way[name]


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):  # gone already, or another user's, which stays
        os.unlink(name)


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end, as the system knows it; of a listening end, the one who began to listen."""
    said = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
    _, uid, _ = struct.unpack("iII", said)
    return int(uid)


def main() -> None:
    """Serve on standard input."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # those we watch over may still be busy
    Watcher(socket.socket(fileno=sys.stdin.fileno()), sys.argv[1]).run()


if __name__ == "__main__":
    main()
