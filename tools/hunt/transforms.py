"""Random compositions of transforms under random stacks of modes, beside plain steps:
`python tools/hunt/transforms.py --seeds 1-2000`.

A program of `testing/transform_programs.py` is, say, a vmap of a jvp of a checkpoint of two functions,
under no_grad. Prints each whose numbers are other than those of `autograd.grad` and loops, which raises
what is not listed in `REFUSED`, or which leaves a mode behind; with the smallest program that does the
same. The exit status is 1 if anything is printed. `--library torch` asks torch, where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from transform_programs import made, smallest, wrong

__all__ = ["REFUSED", "faults", "main"]

#: what is refused on purpose, and why
REFUSED: dict[str, str] = {
    r"its graph is that of all samples": "autograd.grad of a sample: its graph is that of all samples",
    r"Nested forward mode AD": "one dual level within another, as elsewhere",
    r"Setting requires_grad=True on inference tensor": "as elsewhere",
    r"Inference tensors cannot be saved for backward": "outside of transforms, as elsewhere",
    r"profiles do not nest": "the profiler says so",
    r"and no operator made it from that": "functionalize of a view that autograd made, as its docstring says",
}


def kind(said: str) -> str:
    """What is wrong without its numbers: two programs of one kind fail alike."""
    if not said.startswith("raised"):
        return re.sub(r"[-\d.e\[\], ]+|nan|inf", " ", said)
    return re.sub(r"\d+", "", said)[:60]


def faults(lib: Any, seeds: Iterable[int], outcomes: Counter[str]) -> Iterable[str]:
    """The programs that are wrong, one of a kind in full."""
    for seed in seeds:
        program = made(seed)
        said = wrong(lib, program)
        refused = next((why for text, why in REFUSED.items() if re.search(text, said)), "")
        outcomes[
            "wrong" if said and not refused else f"refused: {refused}" if said else "right"
        ] += 1
        if not said or refused:
            continue
        small = smallest(program, lambda p, said=said: kind(wrong(lib, p)) == kind(said))
        yield f"seed {seed}: {program}\n    smallest: {small}\n    {wrong(lib, small)}"


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seeds", default="1-500", help="the first and the last")
    parser.add_argument("--library", default="taeda", help="the name of the module to ask")
    parser.add_argument("--enough", type=int, default=50, help="stop after this many findings")
    options: Any = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    lib = importlib.import_module(options.library)
    for name in ("func", "autograd.functional", "utils.checkpoint", "overrides", "profiler"):
        importlib.import_module(f"{options.library}.{name}")
    outcomes, bad = Counter[str](), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fault in faults(lib, range(int(first), int(last or first) + 1), outcomes):
            print(fault, flush=True)
            bad += 1
            if bad == options.enough:
                break
    print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
