"""pytest with a share of the tests it finds: `python tools/hold/share.py 0/3 -q packages/core/tests/ops`.

A test belongs to the share that a checksum of its name gives. So a share is spread over every file and every
list of parameters, is the same on every machine, and stays what it is when other tests come.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest

__all__ = ["Share", "belongs"]


def belongs(name: str, place: int, parts: int) -> bool:
    """Whether a test is of this share.

    Args:
        name: the test, as pytest calls it.
        place: the number of the share, from 0.
        parts: how many shares there are.

    >>> [belongs("test_x.py::test_y", place, 3) for place in range(3)].count(True)
    1
    """
    return zlib.crc32(name.encode()) % parts == place


class Share:
    """A plugin of pytest that leaves out the tests of other shares."""

    def __init__(self, told: str) -> None:
        """`told` is `0/3` for the first of three."""
        place, _, parts = told.partition("/")
        if not (place.isdigit() and parts.isdigit() and int(place) < int(parts)):
            raise SystemExit(f"a share is written as 0/3, for the first of three; got {told!r}")
        self.place, self.parts = int(place), int(parts)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        kept = [item for item in items if belongs(item.nodeid, self.place, self.parts)]
        others = [item for item in items if not belongs(item.nodeid, self.place, self.parts)]
        config.hook.pytest_deselected(items=others)
        items[:] = kept


def main(arguments: Sequence[str]) -> int:
    """pytest's exit status."""
    sys.path[0] = str(Path.cwd())  # as `python -m pytest` has it, and not the folder of this file
    return int(pytest.main([*arguments[1:]], plugins=[Share(arguments[0])]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
