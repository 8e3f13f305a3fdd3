"""The console shared by processes: each line is written whole."""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
import time

__all__ = ["Lines"]

PATIENCE = 0.2  # seconds after which half a line is shown: a prompt
LONGEST = 1 << 16


class Lines:
    """Pipes whose lines go to a descriptor as they come. A process that prints a line in several
    writes does not mix it with another's.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as console:
    ...     lines = Lines(console.fileno())
    ...     path = lines.pipe()
    ...     with open(path, "w") as process:
    ...         lines.start()
    ...         print("one line,", "whole", file=process)
    ...     lines.stop()
    ...     at = console.seek(0)
    ...     print(console.read().decode().strip())
    one line, whole
    """

    def __init__(self, out: int) -> None:
        self._out = out
        self._select = selectors.DefaultSelector()
        self._halves: dict[int, bytes] = {}
        self._ends: list[int] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="taedarun-lines", daemon=True)

    def pipe(self) -> str:
        """The path of a new pipe, for a process to write to. Call `start` after the last one."""
        read, write = os.pipe()
        os.set_blocking(read, False)
        self._select.register(read, selectors.EVENT_READ)
        self._halves[read] = b""
        self._ends.append(write)
        return f"/dev/fd/{write}"

    def start(self) -> None:
        """Begin to show; the processes have opened their pipes."""
        for end in self._ends:
            os.close(end)
        self._ends.clear()
        self._thread.start()

    def _run(self) -> None:
        last = time.monotonic()
        while self._select.get_map():
            stopping = self._stop.is_set()
            ready = self._select.select(0 if stopping else PATIENCE / 2)
            for key, _ in ready:
                self._take(key.fd)
                last = time.monotonic()
            if time.monotonic() - last > PATIENCE:
                self._show_halves()
            if stopping and not ready:
                break
        self._show_halves()

    def _take(self, read: int) -> None:
        try:
            data = os.read(read, LONGEST)
        except BlockingIOError:
            return
        if not data:
            self._select.unregister(read)
        text = self._halves[read] + data
        at = text.rfind(b"\n") + 1 if data and len(text) < LONGEST else len(text)
        self._halves[read] = text[at:]
        self._write(text[:at])

    def _show_halves(self) -> None:
        for read, text in self._halves.items():
            self._halves[read] = b""
            self._write(text)

    def _write(self, text: bytes) -> None:
        with contextlib.suppress(OSError):  # nobody reads the console any more
            while text:
                text = text[os.write(self._out, text) :]

    def stop(self) -> None:
        """Show what is left, and end. Processes that still have a pipe are not waited for."""
        for end in self._ends:
            os.close(end)
        self._ends.clear()
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        for read in self._halves:
            os.close(read)
        self._halves.clear()
        self._select.close()
