"""Call operations while another thread rewrites their arguments. No call may die.

    python tools/hunt/rewritten.py                        every row that may name places, 40 calls each
    python tools/hunt/rewritten.py --rows "gather|take"   rows whose name matches
    python tools/hunt/rewritten.py --calls 2000           more
    python tools/hunt/rewritten.py --part 0/4             every fourth row

A kernel works without the interpreter lock, so whoever holds an index can write to it between the
check and the use. The tensors here are large enough for that. The thread fills every tensor of the
call with numbers that name no place, and gives them back what they had, over and over. A wrong value
or a documented exception is right; a death is a fault, told with the row that was called.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from fuzz_children import Note, Range, run_as_child, supervise
from outcomes import DOCUMENTED
from samples import ROWS, Row, Sample, samples

import taeda

T = TypeVar("T")
Tensor = taeda.Tensor
SIZES = {"n": 100_000, "m": 3, "k": 2}
#: of families whose work grows faster than their arguments
OWN = {"linalg": {"n": 60}, "loss": {"n": 2000, "m": 3, "k": 2}}
ELEMENTS = 1 << 20  # of one argument; what is larger takes too long
_NO_INDEX = "no argument of theirs names a place"
#: families that this is not asked of, and why
FAMILIES_APART = {
    **dict.fromkeys(("fft", "recurrent", "creation", "conv", "matmul", "attention"), _NO_INDEX),
    **dict.fromkeys(("distance", "norm", "softmax", "activation", "pointwise"), _NO_INDEX),
    **dict.fromkeys(("linalg_norm", "linalg_product", "optim"), _NO_INDEX),
}
LIMIT = 600.0  # seconds of a child
NO_PLACE = (1 << 40, -(1 << 40))


def raced(row: Row) -> Iterator[Sample]:
    """The samples of a row that are worth a race: with tensors, and not too large."""
    if row.family in FAMILIES_APART:
        return
    large = next((own for name, own in OWN.items() if row.family.startswith(name)), SIZES)
    for sizes in (large, {}):
        made = False
        with contextlib.suppress(*DOCUMENTED):
            for sample in samples(row, **sizes):
                given = sample.tensors()
                if given and all(t.numel() <= ELEMENTS for t in given):
                    made = True
                    yield sample
        if made:
            return


def rewrite(t: Tensor, turn: int) -> None:
    """Numbers that name no place, and that no loop may count up to."""
    with contextlib.suppress(*DOCUMENTED):
        if t.dtype is taeda.bool:
            t.fill_(bool(turn % 2))
        elif t.is_floating_point() or t.is_complex():
            t.fill_((float("nan"), float("inf"), -1e30)[turn % 3])
        else:
            limits = taeda.iinfo(t.dtype)
            t.fill_(max(limits.min, min(NO_PLACE[turn % 2], limits.max)))


@contextlib.contextmanager
def rewriting(given: list[Tensor]) -> Iterator[list[int]]:
    """A thread that rewrites tensors, and gives them back what they had. The list has how often."""
    saved = [t.clone() for t in given]
    stop, turns = threading.Event(), [0]

    def run() -> None:
        while not stop.is_set():
            for t, old in zip(given, saved, strict=True):
                rewrite(t, turns[0])
                t.copy_(old)
            turns[0] += 1

    thread = threading.Thread(target=run)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        yield turns
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)


def race(sample: Sample, calls: int) -> int:
    """How many of the calls gave results."""
    given, done = [t.detach() for t in sample.tensors()], 0
    with rewriting(given):
        for _ in range(calls):
            with contextlib.suppress(*DOCUMENTED):
                sample.call()
                done += 1
    return done


def share(items: Sequence[T], part: str) -> Sequence[T]:
    """Every so many of the items, spread over all.

    >>> share("abcdef", "1/3")
    'be'
    """
    place, parts = map(int, part.split("/"))
    return items[place::parts]


def chosen(told: str) -> Sequence[Row]:
    """The rows of a part that match, told as `0/1 gather`."""
    part, _, pattern = told.partition(" ")
    return share([row for name, row in ROWS.items() if re.search(pattern, name)], part)


def cases(given: Range, note: Note) -> Iterator[tuple[str, Any]]:
    """Race the rows of a range, in a child. The seed is the number of calls."""
    warnings.simplefilter("ignore")
    rows = chosen(given.pattern)
    for number in range(given.first, given.first + given.count):
        for sample in raced(rows[number]):
            note(number, str(sample))
            done = race(sample, given.seed)
            yield ("some results" if done else "refused each time"), None


def main(arguments: list[str] | None = None) -> int:
    """Race what the arguments ask for; 1 if a child died."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", default="", help="a regular expression")
    parser.add_argument("--calls", type=int, default=40, help="of each sample")
    parser.add_argument("--part", default="0/1", help="the first and the step of rows")
    options: Any = parser.parse_args(arguments)
    told = f"{options.part} {options.rows}"
    with tempfile.TemporaryDirectory() as folder:
        everything = Range(options.calls, 0, len(chosen(told)), told)
        outcome = supervise(__file__, everything, Path(folder), LIMIT)
    for death in outcome.deaths:
        print(f"{death.text}: {death.ending}", flush=True)
    print(f"{everything.count} rows, {dict(outcome.counts)}, {len(outcome.deaths)} deaths")
    return 1 if outcome.deaths else 0


if __name__ == "__main__":
    sys.exit(0 if run_as_child(cases) else main())
