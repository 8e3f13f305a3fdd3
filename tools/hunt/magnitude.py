"""Rows of the op table with numbers of any size: `python tools/hunt/magnitude.py --rows cdist,norm`.

`testing/properties/magnitude.py` and `kinks.py` say what is asked. Sums of thousands of equal terms are the
property `saturation` of `every_row.py`. `--seeds 1-20` draws sizes, scales,
places and layouts. With `--torch`, where torch is installed, a fault counts only where
the same call of torch's is within half of ours: what both do is a property of the formula. Prints what
does not hold; the exit status is 1 if anything is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from properties import kinks, magnitude
from samples import ROWS, Row, Sample, fits

__all__ = ["faults", "main", "share"]


def share(rows: list[Row], part: str) -> list[Row]:
    """`0/8` is the first of eight parts."""
    number, _, of = part.partition("/")
    return rows[int(number) :: int(of)]


def sizes(seed: int) -> dict[str, int]:
    """Of the tensors: those of the samples for seed 0, others are drawn."""
    draw = random.Random(seed)
    drawn = {"n": draw.randint(1, 33), "m": draw.randint(1, 12), "k": draw.randint(1, 7)}
    return drawn if seed else {}


def faults(
    rows: list[Row], dtypes: list[str], *, torch: bool = False, seed: int = 0
) -> Iterator[str]:
    """What does not hold of these rows, in these dtypes and, for `float64`, at kinks."""
    for row in rows:
        if "float64" in dtypes and fits(row, "float64"):
            yield from (f"kinks: {fault}" for fault in kinks.faults(row, seed=seed))
        for dtype in dtypes:
            if dtype == "float64" or not fits(row, dtype):
                continue
            for case in magnitude.cases(row, dtype, seed=seed, **sizes(seed)):
                said = magnitude.compared(case)
                if said and not (torch and _is_torchs(case)):
                    yield f"{case.sample}, {case.kind} {case.said}: {said}"


def _is_torchs(case: magnitude.Case) -> bool:
    """Is torch as far off?"""
    function = _torch_function(case.sample)
    if function is None:
        return False
    found = magnitude.compared(case, lambda sample, chosen: _by_torch(function, sample, chosen))
    return bool(found)


def _torch_function(sample: Sample) -> Any:
    import torch

    name, namespace = sample.row.schema.name, sample.row.namespace
    homes = [
        getattr(torch, namespace, None),
        torch,
        torch.nn.functional,
        torch._C._nn,
        torch.Tensor,
    ]
    return next((f for home in homes if (f := getattr(home, name, None)) is not None), None)


def _by_torch(function: Any, sample: Sample, chosen: tuple[int, ...]) -> magnitude.Outcome:
    """What torch gives for the call, as `magnitude.outcome` has it."""
    import parity
    import torch

    leaves: list[Any] = []
    places = iter(range(1 << 20))

    def convert(t: Any) -> Any:
        made = parity.to_torch(t)
        if next(places) in chosen and made.is_floating_point():
            leaves.append(made.requires_grad_())
        return made

    made = sample.map(convert)
    try:
        results = function(*made.args, **made.kwargs)
    except Exception as error:
        raise RuntimeError(f"torch: {error}") from error
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    known = {f"result {k}": r.detach().double().numpy() for k, r in enumerate(results)}
    derived = [r for r in results if r.requires_grad]
    if derived and leaves:
        name = sample.row.schema.name
        given = [
            parity.to_torch(magnitude.cotangent(tuple(r.shape), name, k)).to(r.dtype)
            for k, r in enumerate(derived)
        ]
        grads = torch.autograd.grad(derived, leaves, given, allow_unused=True)
        known |= {f"gradient {k}": g.double().numpy() for k, g in enumerate(grads) if g is not None}
    return known


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", default="", help="beginnings of names, with commas")
    parser.add_argument("--part", default="0/1", help="0/8: the first of eight parts")
    parser.add_argument("--seeds", default="0", help="the first and the last; 0 is the table")
    parser.add_argument("--dtypes", nargs="*", default=["float64", *magnitude.DTYPES])
    parser.add_argument("--torch", action="store_true", help="leave out what torch does as well")
    options: Any = parser.parse_args(arguments)
    first, _, last = options.seeds.partition("-")
    beginnings = tuple(options.rows.split(","))
    rows = share([row for name, row in ROWS.items() if name.startswith(beginnings)], options.part)
    bad = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(int(first), int(last or first) + 1):
            for fault in faults(rows, options.dtypes, torch=options.torch, seed=seed):
                print(f"seed {seed}: {fault}", flush=True)
                bad += 1
    print(f"{len(rows)} rows in {', '.join(options.dtypes)}: {bad} faults")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
