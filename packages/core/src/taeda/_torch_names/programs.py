"""`python -m taeda run`: a program that says `import torch`, on taeda and without an edit."""

from __future__ import annotations

import os
import runpy
import sys

from .as_torch import install_as_torch

__all__ = ["run"]

USAGE = """\
usage: python -m taeda run [--distributed] SCRIPT.py [ARGUMENT ...]
       python -m taeda run [--distributed] -m MODULE [ARGUMENT ...]

Runs a program in which `import torch` gives taeda. --distributed: torch.distributed says that it
is available.
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
    sys.argv = program
    if as_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program[0]))
        runpy.run_path(program[0], run_name="__main__")
    return 0
