"""Asking a process of a job what it does: its stacks, and its flight recorder, by a socket in the
file system.
"""

from __future__ import annotations

import json
import os
import socketserver
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from .._groups import recorder

__all__ = ["TORCH_WORKER_SERVER_SOCKET", "worker_main"]

TORCH_WORKER_SERVER_SOCKET = "TORCH_WORKER_SERVER_SOCKET"


class _Answer(socketserver.StreamRequestHandler):
    """One line with a word; JSON comes back."""

    def handle(self) -> None:
        word = self.rfile.readline(100).decode(errors="replace").strip()
        if word == "stacks":
            frames = sys._current_frames()
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            found: object = {
                names.get(number, str(number)): traceback.format_stack(frame)
                for number, frame in frames.items()
            }
        elif word == "calls":
            found = [call.facts() for call in list(recorder.calls)]
        else:
            found = {"error": f"no request {word!r}; there are stacks and calls"}
        self.wfile.write(json.dumps(found).encode() + b"\n")


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


@contextmanager
def _serving(path: str) -> Iterator[None]:
    before = os.umask(0o177)
    try:
        server = _Server(path, _Answer)
    finally:
        os.umask(before)
    threading.Thread(target=server.serve_forever, name="taeda-control", daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        os.unlink(path)


@contextmanager
def worker_main() -> Iterator[None]:
    """Inside, this process answers at the socket that TAEDA_WORKER_SERVER_SOCKET names, if it is set.

    >>> with worker_main():  # no socket is named here, so nothing answers
    ...     loss = 0.5
    """
    path = os.environ.get(
        "TAEDA_WORKER_SERVER_SOCKET", os.environ.get(TORCH_WORKER_SERVER_SOCKET, "")
    )
    if not path:
        yield
        return
    with _serving(path):
        yield
