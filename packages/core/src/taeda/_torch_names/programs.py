"""`python -m taeda run`: a program that says `import torch`, on taeda and without an edit."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from .as_torch import install_as_torch

__all__ = ["run"]

#: where processes that the program starts find their `torch`
FOR_CHILDREN = Path(__file__).with_name("for_children")

USAGE = """\
usage: python -m taeda run [--distributed] SCRIPT.py [ARGUMENT ...]
       python -m taeda run [--distributed] -m MODULE [ARGUMENT ...]

Runs a program in which `import torch` gives taeda, in the processes that it starts, too: so
`-m pip install --no-build-isolation ...` builds extensions whose setup.py imports torch.
--distributed: torch.distributed says that it is available.
"""


def run(arguments: list[str]) -> int:
    """Run a script or a module as Python would, under the name of torch; 2 if none is named."""
    distributed = arguments[:1] == ["--distributed"]
    rest = arguments[distributed:]
    as_module = rest[:1] == ["-m"]
    program = rest[as_module:]
    if not program or program[0].startswith("-"):
        asks = program[:1] in (["-h"], ["--help"])
        print(USAGE, end="", file=sys.stdout if asks else sys.stderr)
        return 0 if asks else 2
    if not as_module and not os.path.exists(program[0]):
        print(f"python -m taeda run: there is no file {program[0]!r}", file=sys.stderr)
        return 2
    install_as_torch(distributed=distributed)
    _tell_children(distributed)
    sys.argv = program
    if as_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")
    return 0


def _tell_children(distributed: bool) -> None:
    """Let processes that start from here find taeda when they import torch."""
    others = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    if str(FOR_CHILDREN) not in others:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(FOR_CHILDREN), *others])
    sys.path.append(str(FOR_CHILDREN))  # which multiprocessing hands on to those that it spawns
    os.environ["TAEDA_RUN_DISTRIBUTED"] = str(int(distributed))
