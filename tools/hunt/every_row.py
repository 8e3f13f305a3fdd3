"""What holds for every row of the op table, with numbers and sizes drawn anew:
`python tools/hunt/every_row.py --seeds 1-20`.

Each property of `testing/properties` is asked for every row, every dtype that the row is for, and
three sizes a seed. Prints where one does not hold; the exit status is 1 if anything is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from properties import (
    aliasing,
    alone,
    both_modes,
    few_digits,
    memory_order,
    near_0,
    no_nan,
    orders,
    saturation,
    targets,
    unset,
)
from samples import ROWS, Row, default_dtype, fits

#: each property, and the dtypes it is asked for beside the row's own
PROPERTIES: dict[str, tuple[Callable[..., Iterator[str]], tuple[str, ...]]] = {
    "memory_order": (memory_order.faults, ("", "complex64", "bfloat16", "float32")),
    "both_modes": (both_modes.faults, ("", "complex128")),
    "orders": (orders.faults, ("",)),
    "near_0": (near_0.faults, ("float64",)),
    "no_nan": (no_nan.faults, ("float64",)),
    "alone": (alone.faults, ("", "float32")),
    "few_digits": (few_digits.faults, ("bfloat16", "float16", "complex64", "complex32")),
    "unset": (unset.faults, ("", "float32", "int64")),
    "targets": (targets.faults, ("", "float32", "int64")),
    "aliasing": (aliasing.faults, ("", "float32", "int64", "bool")),
    "saturation": (saturation.faults, ("bfloat16", "float16")),
}


def rounds(seed: int) -> list[dict[str, int]]:
    """The sizes of one seed: small, and two drawn ones."""
    draw = random.Random(seed)
    drawn = [
        {name: draw.randint(2, most) for name, most in (("n", 33), ("m", 12), ("k", 7))}
        for _ in range(2)
    ]
    return [{}, *drawn]


def faults(rows: list[Row], names: list[str], seed: int) -> Iterator[str]:
    """What does not hold, of these rows and properties."""
    for row in rows:
        for name in names:
            ask, dtypes = PROPERTIES[name]
            for dtype in sorted({d or default_dtype(row) for d in dtypes}):
                own = [{}] if name == "saturation" else rounds(seed)  # it has sizes of its own
                for sizes in own if fits(row, dtype) else ():
                    for fault in ask(row, dtype, seed=seed, **sizes):
                        yield f"{name}, seed {seed}, {sizes}: {fault}"


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--seeds", default="1-3", help="the first and the last")
    parser.add_argument("--rows", default="", help="beginnings of names, with commas")
    parser.add_argument("--only", nargs="*", default=list(PROPERTIES), choices=PROPERTIES)
    options: Any = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    beginnings = tuple(options.rows.split(","))
    rows = [row for name, row in ROWS.items() if name.startswith(beginnings)]
    bad = 0
    for seed in range(int(first), int(last or first) + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for fault in faults(rows, options.only, seed):
                print(fault, flush=True)
                bad += 1
    print(f"{len(rows)} rows, {len(options.only)} properties: {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
