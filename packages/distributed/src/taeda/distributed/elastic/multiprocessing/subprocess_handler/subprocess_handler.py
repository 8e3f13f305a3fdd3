"""A program that was started, its number and its logs."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["SubprocessHandler"]


class SubprocessHandler:
    """The program `entrypoint` with `args`; output goes to the files `stdout` and `stderr`, or ''
    to the console.

    >>> program = SubprocessHandler("/bin/true", (), {}, "", "", local_rank_id=0)
    >>> program.proc.wait()
    0
    >>> program.close()
    """

    def __init__(
        self,
        entrypoint: str,
        args: tuple[Any, ...],
        env: dict[str, str],
        stdout: str,
        stderr: str,
        local_rank_id: int,
    ) -> None:
        from ..api import start_program  # late: it starts these handlers

        self.local_rank_id = local_rank_id
        command = [entrypoint, *map(str, args)]
        self.proc, self._files = start_program(command, env, stdout, stderr)

    def close(self, death_sig: signal.Signals | None = None) -> None:
        """Send `death_sig` (SIGTERM) and close the logs."""
        if self.proc.poll() is None:
            self.proc.send_signal(death_sig or signal.SIGTERM)
        for file in self._files:
            file.close()
