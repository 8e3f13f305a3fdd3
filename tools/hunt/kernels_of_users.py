"""Kernels of users that return anything, for schemas of any form:
`python tools/hunt/kernels_of_users.py --seeds 1-500`.

A seed is a schema with one to four results, a kind of kernel, and values that it returns: those of
`testing/strangers.py`, in lists and tuples of any length and depth. A call gives what fits the schema, and
refuses the rest by name. Prints what does not hold; the exit status is 1 if anything is printed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from strangers import KINDS, RESULTS, fits, inputs, outcome, values

import taeda
from taeda.library import Library

__all__ = ["faults", "main"]

CALLS = 40  # of a schema


def drawn(random: Random, some: dict[str, Any], declared: list[str]) -> Any:
    """A value that a kernel returns: often nearly what its schema wants."""
    # the items of a turning list change from reading to reading
    kinds = [name for name in some if name != "turning"]

    def one(depth: int) -> Any:
        if depth and random.random() < 0.3:
            made = [one(depth - 1) for _ in range(random.randint(0, 3))]
            return made if random.random() < 0.5 else tuple(made)
        return some[random.choice(kinds)]

    def right(form: str) -> Any:
        fitting = [some[name] for name in kinds if fits(form, some[name])]
        return random.choice(fitting) if fitting and random.random() < 0.8 else one(2)

    if random.random() < 0.2:
        return one(3)
    made = [right(form) for form in declared]
    if len(made) == 1:
        return made[0]
    if random.random() < 0.1:
        made = made[: random.randint(0, len(made))]
    return tuple(made) if random.random() < 0.7 else made


def wanted(declared: list[str], value: Any) -> bool:
    """Does a value fit all results of a schema?"""
    if len(declared) == 1:
        return fits(declared[0], value)
    several = type(value) in (list, tuple) and len(value) == len(declared)
    return several and all(map(fits, declared, value))


def faults(seed: int) -> Iterator[str]:
    """What does not hold for the schema of a seed."""
    random = Random(seed)
    declared = [random.choice(RESULTS) for _ in range(random.choice((1, 1, 2, 3, 4)))]
    kind = random.choice(list(KINDS))
    text = declared[0] if len(declared) == 1 else f"({', '.join(declared)})"
    lib, answer = Library("strangers", "DEF"), []
    try:
        lib.define(f"f(Tensor x) -> {text}")
        lib.impl("f", lambda x: answer[0], KINDS[kind])
        for number in range(CALLS):
            x = inputs(kind).requires_grad_(random.random() < 0.3)
            value = drawn(random, values(x.detach()), declared)
            answer[:] = [value]
            said = f"seed {seed}, call {number}: -> {text} by {kind}, {value!r:.200}"
            try:
                taken = outcome(taeda.ops.strangers.f, x)
            except Exception as error:  # noqa: BLE001 - no other error is expected
                yield f"{said}: {type(error).__name__}: {error}"
                continue
            if taken != wanted(declared, value):
                yield f"{said}: {'taken' if taken else 'refused'}"
    finally:
        lib._destroy()


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seeds", default="1-500", help="the first and the last")
    options: Any = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    bad = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(int(first), int(last or first) + 1):
            for fault in faults(seed):
                print(fault, flush=True)
                bad += 1
    print(f"{bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
