"""Time statements from the command line, in turns if there are several.

python -m taeda.utils.benchmark 'x + 1' --setup 'x = taeda.ones(1000)'
python -m taeda.utils.benchmark 'x + 1' --vs 'x.add(1)' --vs 'taeda.add(x, 1)' --setup 'x = taeda.ones(1000)'
python -m taeda.utils.benchmark 'taeda.ones(9)' --vs 'torch.ones(9)' --setup 'import torch' --plot times.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .interleave import Interleaved, interleave
from .timer import Timer

_BAR = 30


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, measure, print. The exit status is 0, or 1 with the statement's own error."""
    options = _parser().parse_args(arguments)
    try:
        timers = [
            Timer(stmt, options.setup, num_threads=options.threads, label=stmt)
            for stmt in [options.stmt, *options.vs]
        ]
        found = interleave(
            *timers, rounds=options.rounds, min_run_time=options.seconds, progress=_progress()
        )
    except Exception as error:  # noqa: BLE001 - whatever the user's statement raises is the answer
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(found)
    _write(found, options)
    if options.callgrind:
        for timer in timers:
            print(f"\n{timer.collect_callgrind(options.callgrind)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m taeda.utils.benchmark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stmt", help="the statement; others are compared with it")
    parser.add_argument(
        "--vs",
        action="append",
        default=[],
        metavar="STMT",
        help="another statement; may be repeated",
    )
    parser.add_argument("--setup", default="pass", help="runs once before each measurement")
    parser.add_argument(
        "--threads", type=int, default=1, help="threads that one operation may use (1)"
    )
    parser.add_argument("--rounds", type=int, default=11, help="turns of each statement (11)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=1.0,
        help="time for each statement, all rounds together (1)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="also draw them (needs matplotlib)"
    )
    parser.add_argument(
        "--callgrind",
        type=int,
        default=0,
        metavar="RUNS",
        help="also count instructions (needs valgrind)",
    )
    return parser


def _write(found: Interleaved, options: argparse.Namespace) -> None:
    if options.json:
        found.to_json(options.json)
    if options.plot:
        found.plot(options.plot)


def _progress() -> Callable[[int, int], None] | None:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return None

    def show(done: int, rounds: int) -> None:
        bar = "#" * (_BAR * done // rounds)
        end = "\r" + " " * (_BAR + 12) + "\r" if done == rounds else ""
        print(f"\r[{bar:{_BAR}}] {done}/{rounds}{end}", end="", file=sys.stderr, flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())
