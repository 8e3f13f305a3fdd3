"""`python -m taeda`: what is installed, on what machine, and whether it works.

    python -m taeda              facts, then a self-test of a few seconds
    python -m taeda --facts      the facts alone, to paste into a report
    python -m taeda --test       the self-test alone
    python -m taeda run PROGRAM  a program that says `import torch`, on taeda; run --help says more
    python -m taeda port FILE    imports of torch in a file become taeda's; port --help says more

The exit status is 1 if a check of the self-test failed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

__all__ = ["main", "until_nobody_reads"]


def main(arguments: list[str] | None = None) -> int:
    """Print what was asked for; the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["run"]:
        from taeda._torch_names.programs import run

        return run(given[1:])
    if given[:1] == ["port"]:
        from taeda._torch_names.porting import port

        return port(given[1:])
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m taeda", None, __doc__, formatter_class=layout)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--facts", action="store_true", help="the facts alone")
    choice.add_argument("--test", action="store_true", help="the self-test alone")
    options = parser.parse_args(given)
    if not options.test:
        from taeda._doctor.facts import as_text, sections

        print(as_text(sections()), end="", flush=True)
    return 0 if options.facts else _test()


def until_nobody_reads(program: Callable[[], int]) -> int:
    """The status of `program`; 1, and silence, if who reads its output goes, as `head` does."""
    try:
        status = program()
        sys.stdout.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)  # half-written: nothing is kept
        os.dup2(nowhere, sys.stdout.fileno())  # or Python flushes once more, and complains
        return 1
    return status


def _test() -> int:
    from taeda._doctor.selftest import run

    print("\nself-test")
    passed = run(lambda line: print(line, flush=True))
    print("\neverything works" if passed else "\nsomething does not work: see FAILED above")
    return int(not passed)


if __name__ == "__main__":
    sys.exit(until_nobody_reads(main))
