"""An answer over HTTP for those who ask whether an agent is alive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["HealthCheckServer", "create_healthcheck_server"]


class HealthCheckServer:
    """Serves 200 at `port` (0 for a free one; `port` then says which) while `alive_callback()` is a
    time of the last `timeout` seconds, else 503.
    """

    def __init__(self, alive_callback: Callable[[], int], port: int, timeout: int) -> None:
        self._alive, self.port, self._timeout = alive_callback, port, timeout
        self._server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        """Serve, on a thread, at this machine's own address only. OSError if the port is taken."""
        alive, timeout = self._alive, self._timeout

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                healthy = time.time() - alive() <= timeout
                self.send_response(200 if healthy else 503)
                self.end_headers()
                self.wfile.write(b"alive\n" if healthy else b"silent\n")

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: it is asked every few seconds."""

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Answer)
        self.port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, name="taeda-health", daemon=True
        ).start()

    def stop(self) -> None:
        """End."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def create_healthcheck_server(
    alive_callback: Callable[[], int], port: int, timeout: int
) -> HealthCheckServer:
    """A server that is not started yet."""
    return HealthCheckServer(alive_callback, port, timeout)
