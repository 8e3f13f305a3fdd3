"""Does a kernel touch what is not its own? Inputs, outputs and work space lie between pages that
nobody may touch.

    python tools/hunt/guard_pages.py                       # every row of the op table, forward and backward
    python tools/hunt/guard_pages.py --rows add,conv       # rows whose names begin so
    python tools/hunt/guard_pages.py --part 0/4 --wide     # a quarter of the rows, with more sizes

A byte read or written behind the end of a block, before its beginning, or after it was given back,
ends the child that a row runs in. What is written into the few bytes between a block and the page
is found when the block is given back. Prints the calls; the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from coverage_of_rows import Coverage, note
from fail_at import in_child

import taeda
from taeda._native import core

BEHIND, BEFORE = 1, 2
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int64", "int8", "bool")
SIZES: tuple[dict[str, int], ...] = ({}, {"n": 1, "m": 1, "k": 1}, {"n": 17, "m": 33, "k": 5})
WIDE: tuple[dict[str, int], ...] = (
    *SIZES,
    {"n": 7, "m": 129, "k": 3},
    {"n": 63, "m": 65, "k": 31},
    {"n": 255, "m": 3, "k": 2},
)


def row_calls(name: str, wide: bool) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls of a row in every dtype, at both sides of a page; each says what was written behind
    a block.
    """
    from samples import samples

    for side in (BEHIND, BEFORE):
        for dtype in DTYPES:
            for sizes in WIDE if wide else SIZES:
                title = (
                    f"{name} in {dtype}, {sizes or 'usual sizes'}, page "
                    f"{'behind' if side == BEHIND else 'before'}"
                )

                def call(
                    side: int = side, dtype: str = dtype, sizes: dict[str, int] = sizes
                ) -> str:
                    before = core.memory_guard(side)
                    try:
                        for sample in _made(samples(name, dtype, **sizes)):
                            if _noted(sample.call):
                                _noted(lambda sample=sample: _derive(sample))
                    finally:
                        written = core.memory_guard(0) - before
                    return f"{written} blocks were written behind their end" if written else ""

                yield title, call


REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)


def _made(given: Iterator[Any]) -> Iterator[Any]:
    """The samples, up to one that its maker refuses to make of these sizes."""
    try:
        yield from given
    except REFUSALS as error:
        note(error)


def _noted(call: Callable[[], Any]) -> bool:
    """Make the call, and note whether it ran."""
    try:
        call()
    except REFUSALS as error:  # a dtype or size that the row refuses
        note(error)
        return False
    note(None)
    return True


def _derive(sample: Any) -> None:
    """The derivative, where there is one."""
    tensors = [t for t in sample.tensors() if t.is_floating_point() or t.is_complex()]
    if not tensors or sample.written():
        return
    again = sample.map(lambda t: t.detach().requires_grad_(t.is_floating_point() or t.is_complex()))
    given = again.call()
    outputs = [given] if isinstance(given, taeda.Tensor) else given
    if isinstance(outputs, (list, tuple)):
        for output in outputs:
            if isinstance(output, taeda.Tensor) and output.requires_grad:
                output.backward(taeda.ones_like(output), retain_graph=True)


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", default="", help="beginnings of names, with commas; all if empty")
    parser.add_argument("--part", default="0/1", help="K/N: the K-th of N parts of the rows")
    parser.add_argument("--reasons", action="store_true", help="why calls did not run")
    parser.add_argument("--wide", action="store_true", help="more sizes")
    options = parser.parse_args()
    from samples import ROWS

    warnings.simplefilter("ignore")
    part, parts = map(int, options.part.split("/"))
    wanted = tuple(options.rows.split(","))
    rows = [name for name in sorted(ROWS) if name.startswith(wanted)][part::parts]
    faults, coverage = [], Coverage()
    for name in rows:
        calls = lambda name=name: row_calls(name, options.wide)  # noqa: E731 - bound to this name
        faults += in_child(name, calls, _fault, coverage)
    faults += coverage.faults()
    for line in faults + (coverage.reasons() if options.reasons else []):
        print(line)
    print(f"{coverage}; {len(faults)} faults")
    return bool(faults)


def _fault(call: Callable[[], str]) -> list[str]:
    said = call()
    return [said] if said else []


if __name__ == "__main__":
    sys.exit(main())
