"""Lines that processes write to files, shown on the console as they come."""

from __future__ import annotations

import threading
from typing import TextIO

__all__ = ["Tail"]


class Tail:
    """Shows the lines of some files with a prefix each, on one thread.

    >>> import io, os, tempfile
    >>> path, console = os.path.join(tempfile.mkdtemp(), "stdout.log"), io.StringIO()
    >>> tail = Tail({path: "[trainer0]:"}, console)
    >>> with open(path, "w") as file:
    ...     print("step 1", file=file)
    >>> tail.stop()
    >>> console.getvalue().strip()
    '[trainer0]:step 1'
    """

    def __init__(self, files: dict[str, str], out: TextIO) -> None:
        self._files, self._out = files, out  # path -> prefix
        self._at: dict[str, int] = dict.fromkeys(files, 0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="taedarun-tail", daemon=True)
        if files:
            self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.05):
            self._show()
        self._show(True)

    def _show(self, last: bool = False) -> None:
        for path, prefix in self._files.items():
            try:
                with open(path, "rb") as file:
                    file.seek(self._at[path])
                    data = file.read()
            except FileNotFoundError:
                continue
            end = len(data) if last else data.rfind(b"\n") + 1
            self._at[path] += end
            for line in data[:end].decode(errors="replace").splitlines():
                self._out.write(f"{prefix}{line}\n")
        self._out.flush()

    def stop(self) -> None:
        """Show what is left, and end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
