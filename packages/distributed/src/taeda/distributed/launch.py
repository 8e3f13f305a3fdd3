"""The older name of `taedarun`: `python -m taeda.distributed.launch`.

Programs get `--local-rank=N` as their first argument, as they did then; with `--use-env` they read
LOCAL_RANK instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from taeda._core_api import warn

from . import run

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """The command.

    >>> import contextlib, io, warnings
    >>> with warnings.catch_warnings(record=True), contextlib.suppress(SystemExit):
    ...     with contextlib.redirect_stdout(io.StringIO()) as text:
    ...         main(["--help"])  # the flags are those of taedarun
    >>> "--nproc-per-node" in text.getvalue()
    True
    """
    warn(
        "taeda.distributed.launch is the older way: use taedarun, and read LOCAL_RANK from the environment",
        FutureWarning,
    )
    words = list(sys.argv[1:] if args is None else args)
    flags = [word for word in ("--use-env", "--use_env") if word in words]
    words = [word for word in words if word not in flags]
    options = run.parse_args(words)
    if not flags:
        at = len(words) - len(options.training_script_args)
        words.insert(at, "--local-rank=${local_rank}")
    run.main(words)


if __name__ == "__main__":
    main()
