"""Programs that read state of Python, compiled and as they are: every idiom of
`tools/testing/python_state.py` in every place where an object can be found, with a change between
calls. Results and the state that is left must be equal.

    python tools/hunt/python_states.py              all of them, in some minutes
    python tools/hunt/python_states.py --part 3/20  every twentieth, from the third on
    python tools/hunt/python_states.py --only "in closure"
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

import taeda


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="programs with this in their name")
    parser.add_argument("--part", default="0/1", help="first and step")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.exit(main(given.only, *map(int, given.part.split("/"))))
