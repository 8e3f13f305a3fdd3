"""The table of what passed where, from nox's report of the sessions `matrix`.

    nox -s matrix --report build/matrix.json
    python tools/hold/matrix_table.py build/matrix.json > build/matrix.md

A row for each package and device, a column for each Python. A session that the report lacks is told as
not run, never as passed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["table"]

SIGNATURE = re.compile(r"matrix-(?P<python>[\d.]+)\((?P<package>[\w-]+), (?P<device>[\w-]+)\)")


def table(sessions: Iterable[Mapping[str, Any]]) -> str:
    """Markdown of `sessions`, each with its `signatures` and a `result` as in nox's report.

    >>> print(table([{"signatures": ["matrix-3.12(nn, cpu)"], "result": "success"}]))
    | package | device | 3.12 |
    |---|---|---|
    | nn | cpu | success |
    """
    results: dict[tuple[str, str], dict[str, str]] = {}
    for session in sessions:
        if where := next(filter(None, map(SIGNATURE.fullmatch, session["signatures"])), None):
            cells = results.setdefault((where["package"], where["device"]), {})
            reason = session.get("reason")
            cells[where["python"]] = session["result"] + (f": {reason}" if reason else "")
    pythons = sorted({one for cells in results.values() for one in cells}, key=_number)
    lines = [_line("package", "device", *pythons), "|---" * (2 + len(pythons)) + "|"]
    for place, cells in results.items():
        lines.append(_line(*place, *(cells.get(one, "not run") for one in pythons)))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _number(python: str) -> tuple[int, ...]:
    return tuple(map(int, python.split(".")))


if __name__ == "__main__":
    print(table(json.loads(Path(sys.argv[1]).read_text())["sessions"]))
