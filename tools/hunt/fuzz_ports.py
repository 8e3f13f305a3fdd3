"""Send wrong bytes to every port that a distributed job listens at.
The servers stay up, and take nothing from strangers.

    python tools/hunt/fuzz_ports.py                        20,000 messages, to all servers in turn
    python tools/hunt/fuzz_ports.py --messages 100000      a long run
    python tools/hunt/fuzz_ports.py --servers "store|pmi"  servers whose name matches

Each message is made from its number alone. A third come from strangers without the secret, a third
from strangers that change a proof, a third from clients that know the secret and then break the
protocol. After every batch a client that keeps to the protocol is served, and what strangers asked
for has not happened.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

BATCH = 500
PATIENCE = 10.0  # seconds until a connection that was ended must be over
GROWTH = 64 << 10  # kilobytes of memory that a run may cost
SECRET = "8f0c2d4e6a1b3c5d7e9f"
INTRUDER, FRIEND = b"stranger", b"client"  # the keys that they write


class Finding(Exception):
    """A server did what it must not."""


class Server:
    """One that is fuzzed."""

    name = ""
    greets = 0  # bytes it says first

    def connect(self) -> socket.socket:
        raise NotImplementedError

    def proof(self, greeting: bytes) -> bytes:
        """What a client that knows the secret says first."""
        return b""

    def request(self, random: Random, key: bytes) -> bytes:
        """A valid request, often of `key`."""
        raise NotImplementedError

    def check(self) -> None:
        """Serve a client that keeps to the protocol, and see that no stranger was heard."""
        raise NotImplementedError

    def flood(self) -> None:
        """Hold many connections without a word, and check."""

    def close(self) -> None:
        """End."""


def tcp(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), PATIENCE)
    made.settimeout(PATIENCE)
    return made


class Store(Server):
    name, greets = "store", 20

    def __init__(self, folder: Path) -> None:
        import os

        os.environ["TAEDA_STORE_SECRET"] = SECRET
        from taeda.distributed import TCPStore

        self._store = TCPStore("127.0.0.1", 0, is_master=True)
        self._rounds = 0

    def connect(self) -> socket.socket:
        return tcp(self._store.port)

    def proof(self, greeting: bytes) -> bytes:
        return hmac.digest(SECRET.encode(), greeting, hashlib.sha256)

    def request(self, random: Random, key: bytes) -> bytes:
        fields = [
            random.choice([key, key, b"", b"7", b"-1", b"1" * 5000, random.randbytes(9)])
            for _ in range(random.randrange(5))
        ]
        body = b"".join(struct.pack("!I", len(field)) + field for field in fields)
        return struct.pack("!IB", 1 + len(body), random.randrange(20)) + body

    def check(self) -> None:
        self._rounds += 1
        if self._store.add("rounds", 1) != self._rounds:
            raise Finding("the counter of a good client changed")
        if self._store.check([INTRUDER.decode()]):
            raise Finding("a stranger's key is there")

    def close(self) -> None:
        del self._store


class Pmi(Server):
    name = "pmi"

    def __init__(self, folder: Path) -> None:
        import taeda.distributed

        program = Path(taeda.distributed.__file__).with_name("_mpi") / "pmi.py"
        command = [sys.executable, "-I", "-S", str(program)]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        task = {
            "host": "127.0.0.1",
            "size": 1 << 30,
            "secret": SECRET,
            "mapping": "(x)",
            "job": "j",
        }
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(task).encode() + b"\n")
        self._child.stdin.flush()
        self._port, self._rank = int(self._child.stdout.readline()), 0

    def connect(self) -> socket.socket:
        return tcp(self._port)

    def proof(self, greeting: bytes) -> bytes:
        self._rank += 1
        return f"{SECRET} {self._rank}\n".encode()

    def request(self, random: Random, key: bytes) -> bytes:
        word = random.choice("init put get barrier_in finalize get_maxes admit __init__ x".split())
        more = random.choice(
            [b"", b" key=" + key + b" value=v", b" key=" + key, b" ==", random.randbytes(9)]
        )
        return b"cmd=" + word.encode() + more + b"\n"

    def check(self) -> None:
        if self._child.poll() is not None:
            raise Finding(f"the helper ended with {self._child.returncode}")
        with self.connect() as made, made.makefile("rwb") as lines:
            lines.write(self.proof(b"") + b"cmd=get key=PMI_process_mapping\n")
            lines.flush()
            answer = lines.readline()
            if b"value=(x)" not in answer:
                raise Finding(f"a good client got {answer!r}")
            lines.write(b"cmd=get key=" + INTRUDER + b"\n")
            lines.flush()
            if b"key_not_found" not in lines.readline():
                raise Finding("a stranger's key is there")

    def flood(self) -> None:
        """Strangers who say nothing hold all its descriptors; a good client is served all the same."""
        resource.prlimit(self._child.pid, resource.RLIMIT_NOFILE, (16, 16))
        silent = [self.connect() for _ in range(40)]
        self.check()
        for made in silent:
            made.close()

    def close(self) -> None:
        self._child.communicate()


class Wiring(Server):
    """A rank that waits for another one's connection, as ranks of several machines do."""

    name, greets = "wiring", 20

    def __init__(self, folder: Path) -> None:
        from taeda.distributed._stores import wire
        from taeda.distributed._wires import wiring

        self._module, self._prove = wiring, wire.prove
        wiring._CONNECT = 3600.0  # seconds in which strangers may come
        self._await_member()

    def _await_member(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._port = self._listener.getsockname()[1]
        one = self._module._Wiring(self._listener, SECRET.encode(), 0, {}, {1})
        self._thread = ThreadPoolExecutor(1)
        self._laid = self._thread.submit(one.lay)

    def connect(self) -> socket.socket:
        if self._laid.done():
            raise Finding(f"it waits no longer: {self._laid.result()}")
        return tcp(self._port)

    def proof(self, greeting: bytes) -> bytes:
        """Of a member, but none that is awaited."""
        number = [0, 2, 257, (1 << 32) - 1][greeting[-1] % 4].to_bytes(4, "big")
        return number + self._prove(SECRET.encode(), greeting + number)

    def request(self, random: Random, key: bytes) -> bytes:
        return (1).to_bytes(4, "big") + random.randbytes(random.choice([0, 31, 32, 32, 200]))

    def check(self) -> None:
        self._send_member()
        self._await_member()

    def _send_member(self) -> None:
        """The member that is awaited comes, and is taken."""
        with self._listener, self.connect() as made:
            greeting = made.recv(self.greets, socket.MSG_WAITALL)
            number = (1).to_bytes(4, "big")
            made.sendall(number + self._prove(SECRET.encode(), greeting + number))
            laid = self._laid.result(PATIENCE)
            if laid is None or laid[1][1].getpeername() != made.getsockname():
                raise Finding(f"the awaited member is not the one that was taken: {laid}")
            laid[1][1].close()
        self._thread.shutdown()

    def flood(self) -> None:
        """Strangers say nothing, or a part of an answer, or break off; none of them holds up the
        member.
        """
        silent = [self.connect() for _ in range(60)]
        for made in silent[::2]:
            made.sendall(b"x")
        for made in silent[:20]:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            made.close()
        before = time.monotonic()
        self.check()
        if time.monotonic() - before > PATIENCE / 2:
            raise Finding("strangers held up the member")
        for made in silent:
            made.close()

    def close(self) -> None:
        self._send_member()


class Health(Server):
    name = "health"

    def __init__(self, folder: Path) -> None:
        from taeda.distributed.elastic.agent.server.health_check_server import (
            create_healthcheck_server,
        )

        self._server = create_healthcheck_server(lambda: 1 << 40, 0, 60)
        self._server.start()

    def connect(self) -> socket.socket:
        return tcp(self._server.port)

    def request(self, random: Random, key: bytes) -> bytes:
        head = random.choice(
            ["GET / HTTP/1.1", "POST / HTTP/1.0", "GET", "X" * 70000, "GET / HTTP/9.9"]
        )
        return f"{head}\r\nContent-Length: {random.choice([0, -1, 'x'])}\r\n\r\n".encode()

    def check(self) -> None:
        with self.connect() as made:
            made.sendall(b"GET / HTTP/1.0\r\n\r\n")
            if b" 200 " not in made.recv(100):
                raise Finding("a good client got a wrong answer")

    def close(self) -> None:
        self._server.stop()


class Control(Server):
    name = "control"

    def __init__(self, folder: Path) -> None:
        from taeda.distributed.elastic.control_plane import _serving

        self._path = str(folder / "control")
        self._serving = _serving(self._path)
        self._serving.__enter__()

    def connect(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(PATIENCE)
        made.connect(self._path)
        return made

    def request(self, random: Random, key: bytes) -> bytes:
        return random.choice([b"calls", b"stacks", b"\xff\xfe", b"x" * 300, b""]) + b"\n"

    def check(self) -> None:
        with self.connect() as made, made.makefile("rwb") as lines:
            lines.write(b"calls\n")
            lines.flush()
            json.loads(lines.readline())

    def close(self) -> None:
        self._serving.__exit__(None, None, None)


SERVERS: dict[str, Callable[[Path], Server]] = {
    kind.name: kind for kind in (Store, Pmi, Wiring, Health, Control)
}


def changed(data: bytes, random: Random) -> bytes:
    """`data` with a few bytes changed, cut off, doubled or put in."""
    made = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(made) + 1)
        how = random.randrange(4)
        if how == 0 and at < len(made):
            made[at] ^= 1 << random.randrange(8)
        elif how == 1:
            del made[at:]
        elif how == 2:
            made[at:at] = made[:at]
        else:
            made[at:at] = random.randbytes(random.choice([1, 4, 40]))
    return bytes(made)


def message(server: Server, greeting: bytes, random: Random) -> tuple[str, bytes]:
    """Who speaks, and what."""
    who = random.choice(["stranger", "forger", "client"]) if server.proof(greeting) else "stranger"
    key = FRIEND if who == "client" else INTRUDER
    requests = b"".join(server.request(random, key) for _ in range(random.randrange(1, 4)))
    if who == "stranger":
        return who, random.choice([random.randbytes(random.randrange(1, 200)), requests])
    proof = server.proof(greeting)
    if who == "forger":
        forged = bytearray(proof)
        forged[random.randrange(16)] ^= 1 << random.randrange(8)  # in what only the secret gives
        return who, bytes(forged[: random.choice([len(proof), 20])]) + requests
    return who, proof + changed(requests, random)


def send(server: Server, random: Random) -> str:
    """One message, to its end. Who sent it."""
    with server.connect() as made:
        greeting = made.recv(server.greets, socket.MSG_WAITALL) if server.greets else b""
        who, data = message(server, greeting, random)
        answer = b""
        try:
            made.sendall(data)
            made.shutdown(socket.SHUT_WR)
            while more := made.recv(1 << 16):
                answer += more
        except TimeoutError:
            raise Finding(f"the connection of a {who} was not closed") from None
        except OSError:
            pass  # it closed the connection, as it should
    if answer and who != "client" and server.proof(greeting):
        raise Finding(f"a {who} got an answer: {answer[:80]!r}")
    return who


def run_server(name: str, messages: int, seed: int) -> Counter[str]:
    """Fuzz one server. How many messages came from whom."""
    told: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        server = SERVERS[name](Path(folder))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            server.flood()
            for first in range(0, messages, BATCH):
                for number in range(first, min(first + BATCH, messages)):
                    try:
                        told[send(server, Random(f"{seed}/{name}/{number}"))] += 1
                    except Finding as finding:
                        raise Finding(
                            f"{name}, message {number} of seed {seed}: {finding}"
                        ) from None
                server.check()
        finally:
            server.close()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        if grown > GROWTH:
            raise Finding(f"{name}: memory grew by {grown >> 10} MiB")
    return told


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--servers", default="", help="only servers whose name matches this expression"
    )
    options = parser.parse_args()
    chosen = [name for name in SERVERS if re.search(options.servers, name)]
    for name in chosen:
        told = run_server(name, options.messages // len(chosen), options.seed)
        print(
            f"{name:8}",
            ", ".join(f"{count} by a {who}" for who, count in sorted(told.items())),
            flush=True,
        )
    print("0 findings")
    return 0


if __name__ == "__main__":
    sys.exit(main())
