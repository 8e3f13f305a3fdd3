"""Programs that read state of Python, compiled and as they are: every idiom of
`tools/testing/python_state` in every place where an object can be found, with a change between
calls. Results and the state that is left must be equal.

    python tools/hunt/python_states.py              all of them, in some minutes
    python tools/hunt/python_states.py --part 3/20  every twentieth, from the third on
    python tools/hunt/python_states.py --only "in closure"
    python tools/hunt/python_states.py --random 2000 --seed 0   random programs of many statements instead
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
import python_state
import random_python

import taeda
from taeda.compiler._call import audit


def differs(text: str) -> tuple[Any, Any, list[str]] | None:
    """(what the program gives, what the compiled one gives, its reasons); None if they are equal."""
    made: list[Any] = []

    def compiled(f: Any) -> Any:
        made.append(taeda.compile(f))
        return made[-1]

    want, got = python_state.outcome(text, lambda f: f), python_state.outcome(text, compiled)
    reasons = [reason for f in made for reason in f.__taeda_compiled__.reasons]
    return None if want == got else (want, got, reasons)


def main(only: str, first: int, step: int) -> int:
    programs = [*python_state.EXTRA, *python_state.programs()]
    wrong = count = 0
    for name, text in itertools.islice(programs, first, None, step):
        if only not in name:
            continue
        count += 1
        found = differs(text)
        if found is not None:
            wrong += 1
            print(f"{name}: wanted {found[0]}, got {found[1]}, {found[2]}", flush=True)
    print(f"{count} programs, {wrong} differ")
    return int(wrong > 0)


def random_differs(program: random_python.Program) -> tuple[str, str, bool] | None:
    """(what the program gives, what the compiled one gives, whether by a graph), where they differ
    for the first time; None if they do not, and the last is told by `graphs`.
    """
    made: list[Any] = []

    def compiled(f: Any) -> Any:
        made.append(taeda.compile(f))
        return made[-1]

    want = random_python.outcome(program, lambda f: f)
    got = random_python.outcome(program, compiled)
    states = [state for f in made for state in f.__taeda_compiled__.states()]
    used = any(t.trusted for state in states for found in state.traces.values() for t in found)
    graphs.append(used)
    pairs = ((a, b, used) for a, b in zip(want, got, strict=True) if a != b)
    return next(pairs, None)


graphs: list[bool] = []  # of each random program, whether it became a graph


def random_main(count: int, seed: int) -> int:
    wrong = 0
    for number in range(seed, seed + count):
        audit.rate = audit.rate_of("always" if number % 2 else "")  # a program has 8 calls
        program = random_python.made(number)
        if random_differs(program) is None:
            continue
        wrong += 1
        program = random_python.smallest(program, lambda less: random_differs(less) is not None)
        found = random_differs(program)
        body = program.text()[len(random_python.HEAD) :]
        print(f"seed {number}: {body}\n{program.changes} {program.region}\n{found}", flush=True)
    print(f"{count} random programs, {sum(graphs)} became graphs, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--part", default="0/1", help="first and step")
    parser.add_argument("--random", type=int, default=0, help="so many random programs instead")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.random:
        sys.exit(random_main(given.random, given.seed))
    sys.exit(main(given.only, *map(int, given.part.split("/"))))
