"""The process that Callgrind watches: prepares a task from a file, then runs it inside the function
that is counted.

Started by `callgrind.py` with a file that the same program wrote a moment ago.
"""

from __future__ import annotations

import pickle
import sys
from itertools import repeat
from pathlib import Path
from typing import Any

import taeda
from taeda._core_api import runtime as _core

# A generator, so that setup and statement share their variables and the loop can still be run by
# itself: its first step prepares, its second runs the loop.
_TEMPLATE = """
def inner(_runs):
    {setup}
    yield
    for _ in _runs:
        {stmt}
    yield
"""


def main(path: str) -> None:
    """Run the task in `path`, its loop inside the counted region."""
    task = pickle.loads(Path(path).read_bytes())
    values: dict[str, Any] = {"taeda": taeda}
    for name, setup, packed in task["globals"]:
        exec(setup, values)
        values[name] = pickle.loads(packed)
    taeda.set_num_threads(task["threads"])
    inner = compile_task(task["setup"], task["stmt"], values)
    list(inner(repeat(None, 2)))  # what happens only once shall not be counted
    steps = inner(repeat(None, task["number"]))
    next(steps)
    _core.measured_region(steps.__next__)


def compile_task(setup: str, stmt: str, values: dict[str, Any]) -> Any:
    """The generator function that prepares, then loops."""
    source = _TEMPLATE.format(
        setup=setup.replace("\n", "\n    "), stmt=stmt.replace("\n", "\n        ")
    )
    exec(compile(source, "<statement>", "exec"), values)
    return values["inner"]


if __name__ == "__main__":
    main(sys.argv[1])
