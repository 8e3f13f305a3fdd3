"""Whole modules with objects of any kind, met several times, at any depth, in files of both formats:
`python tools/hunt/states.py --seeds 1-2000`.

A module of `testing/kept_graphs.py` is saved and loaded: the graph of its objects, the memory that tensors
share and their numbers are as before. Prints what is not, and what a save or a load raises that is not
listed; the exit status is 1 if anything is printed.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from kept_graphs import differs, made
from kept_objects import FORMATS, back

__all__ = ["REFUSED", "faults", "main"]

#: what is refused on purpose, and why
REFUSED: dict[str, str] = {
    r"cannot save the object at .*: it contains itself": "a tree of data has no circles",
}


def faults(seed: int, outcomes: Counter[str]) -> Iterator[str]:
    """What becomes of the module of a seed in each format."""
    for form in FORMATS:
        module = made(seed, form)
        try:
            said = differs(module, back(module, form))
        except Exception as error:  # noqa: BLE001 - any refusal is looked at
            said = f"raised {type(error).__name__}: {error}"
        why = next((why for text, why in REFUSED.items() if re.search(text, said)), "")
        outcomes[f"refused: {why}" if why else "wrong" if said else "right"] += 1
        if said and not why:
            yield f"seed {seed}, {form}: {said:.600}"


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seeds", default="1-500", help="the first and the last")
    options: Any = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    outcomes = Counter[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(int(first), int(last or first) + 1):
            for fault in faults(seed, outcomes):
                print(fault, flush=True)
    print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    return 1 if outcomes["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
