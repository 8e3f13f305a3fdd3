"""All of some bytes into an object of somebody else that has a method `write`."""

from __future__ import annotations

import errno
from typing import Any

__all__ = ["write_all"]


def write_all(file: Any, data: Any) -> None:
    """Write all of `data`, however little `write` takes at a time.

    A `write` that returns None, as an object may, has taken everything. OSError for one that takes nothing
    and says so: asking again would be asking for ever.
    """
    rest = memoryview(data)
    while rest.nbytes:
        written = file.write(rest)
        if written is None:
            return
        if not 0 < written <= rest.nbytes:
            raise OSError(
                errno.EIO,
                f"write() of {type(file).__name__} says that it took {written} of {rest.nbytes} bytes: "
                "it should return how many it took, at least one, or None for all",
            )
        rest = rest[written:]
