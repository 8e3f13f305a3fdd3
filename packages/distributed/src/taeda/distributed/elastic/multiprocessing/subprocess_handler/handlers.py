"""Where a program is started; a place to put another kind of start."""

from __future__ import annotations

from typing import Any

from .subprocess_handler import SubprocessHandler

__all__ = ["get_subprocess_handler"]


def get_subprocess_handler(
    entrypoint: str,
    args: tuple[Any, ...],
    env: dict[str, str],
    stdout: str,
    stderr: str,
    local_rank_id: int,
    numa_options: None = None,
) -> SubprocessHandler:
    """Start the program. ValueError for `numa_options`, which this release has not.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as out:
    ...     program = get_subprocess_handler("/bin/echo", ("rank", 0), {}, out.name, "", 0)
    ...     program.proc.wait(), out.read().decode().strip()
    (0, 'rank 0')
    >>> program.close()
    """
    if numa_options is not None:
        raise ValueError(
            "numa_options: binding to memory nodes is not in this release; use numactl"
        )
    return SubprocessHandler(entrypoint, args, env, stdout, stderr, local_rank_id)
