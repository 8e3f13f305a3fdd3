"""Every program that the operators may ask for, by the names under which `python -m taeda.cuda.warm`
chooses them. `tools/cuda/cuda_rows.py` fails where a row asks for one that is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from typing import NamedTuple

from taeda import _device_text
from taeda._device_text.families import REAL, SHORT, SIZES, WALKS, Programs

__all__ = ["Program", "groups", "programs"]


class Program(NamedTuple):
    """What `_programs.program` is asked for; `dtype` and `source` are names of `_programs.DTYPES`."""

    kind: str
    name: str
    dtype: str
    source: str
    how: str


@cache
def _chosen() -> dict[str, list[tuple[str, Programs]]]:
    """(name of the work, its row) by the names that choose them: a reduction's, or the family's."""
    found: dict[str, list[tuple[str, Programs]]] = {}
    for family, row in _device_text.FAMILIES.items():
        for programs in (*row.programs, *row.beside):
            for name in programs.names if programs.dtypes else ():
                by = name if programs.kind == "reduce" else row.chosen or family
                found.setdefault(by, []).append((name, programs))
    return found


def groups() -> list[str]:
    """The names by which programs are chosen: elementwise loops, reductions, and works of their own."""
    loops = {key.partition(" ")[0] for key in _device_text.loops()}
    return sorted({*loops, *_chosen()})


def programs(names: Iterable[str], dtypes: Iterable[str]) -> list[Program]:
    """The programs behind `names` for tensors of `dtypes` (names of `_programs.DTYPES`), copies and
    conversions between them included. 16-bit floats are computed in float32 where there is nothing
    shorter.
    """
    wanted = dict.fromkeys(dtypes)
    if any(dtype in wanted for dtype in SHORT):
        wanted["F32"] = None
    found = [*_moves(tuple(wanted))]
    for name in names:
        found += _of(name, tuple(wanted))
    return list(dict.fromkeys(found))


def _moves(dtypes: tuple[str, ...]) -> Iterator[Program]:
    for how in WALKS:
        for size in SIZES:
            yield Program("copy", "copy", size, size, how)
        for dtype in ("I16", *REAL):
            yield Program("negate", "negate", dtype, dtype, how)
        for to, source in product(dtypes, dtypes):
            if to != source and not any(d.startswith(("F8_", "Q")) for d in (to, source)):
                yield Program("cast", "cast", to, source, how)


def _of(name: str, dtypes: tuple[str, ...]) -> Iterator[Program]:
    for dtype, how in product(dtypes, WALKS):
        if f"{name} {dtype}" in _device_text.loops():
            yield Program("loop", name, dtype, dtype, how)
    for work, row in _chosen().get(name, ()):
        here = [dtype for dtype in row.dtypes if row.always or dtype in dtypes]
        for dtype, how in product(here, row.hows):
            yield Program(row.kind, work, dtype, dtype, how)
