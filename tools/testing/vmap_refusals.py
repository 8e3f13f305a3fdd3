"""What a call of its own refuses is refused in a map as well: samples along a hidden dimension must not
stand for a dimension that a sample has not, nor the rows of one sample for those of the next.

A row's calls are made with one argument spoiled: a dimension far out, a tensor of another rank,
an index that names no place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from samples import Sample, samples
from vmap_of_rows import RANDOM, UNMAPPED, names_of

import taeda
from taeda.autograd.batching import NeedsValue
from taeda.func import vmap

__all__ = ["check_refusals", "spoiled"]

REFUSALS = (RuntimeError, ValueError, IndexError, TypeError, OverflowError)
RANKS: dict[str, Callable[[taeda.Tensor], taeda.Tensor]] = {
    "without dimensions": lambda t: t.flatten()[0].clone(),
    "of one element": lambda t: t.flatten()[:1].clone(),
    "of no element": lambda t: t.flatten()[:0].clone(),
    "of three dimensions more": lambda t: t.reshape(1, 1, 1, *t.shape),
}
#: rows that give numbers of Python, which no map returns
OF_PYTHON = {"_local_scalar_dense"}


def spoiled(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """The call with one thing changed, and what."""
    for place, given in enumerate(sample.args):
        for text, other in _others(given):
            changed = (*sample.args[:place], other, *sample.args[place + 1 :])
            yield f"argument {place} {text}", replace(sample, args=changed)
    if any(_names_places(t) for t in sample.tensors()):
        for number in (100, -1, -100):
            yield f"an integer is {number}", sample.map(lambda t, n=number: _with_first(t, n))


def _others(given: Any) -> Iterator[tuple[str, Any]]:
    if type(given) is int:
        yield from ((f"is {n}", n) for n in (7, -9))
    elif isinstance(given, (list, tuple)) and given and all(type(v) is int for v in given):
        for changed in ([7, *given[1:]], [-9, *given[1:]], [*given, 1]):
            yield f"is {changed}", changed
    elif isinstance(given, taeda.Tensor) and given.numel():
        yield from ((text, change(given)) for text, change in RANKS.items())


def _names_places(t: taeda.Tensor) -> bool:
    return bool(t.numel()) and t.dtype in (taeda.int64, taeda.int32)


def _with_first(t: taeda.Tensor, number: int) -> taeda.Tensor:
    if not _names_places(t):
        return t
    flat = t.flatten().clone()
    flat[0] = number
    return flat.reshape(t.shape)


def _outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return call(), None
    except REFUSALS as error:
        return None, error


def _fault(sample: Sample) -> str:
    """What is wrong, empty if nothing."""
    wanted, refusal = _outcome(lambda: sample.map(taeda.clone).call())

    def run(*tensors: taeda.Tensor) -> Any:
        rest = iter(tensors)
        made = sample.map(lambda t: next(rest)).call()
        return list(made) if isinstance(made, tuple) else made

    whole = [taeda.stack([t, t]) for t in sample.tensors()]
    made, in_map = _outcome(lambda: vmap(run)(*whole))
    if refusal is not None:
        return f"gives {_shapes(made)}, but alone {refusal!r}" if in_map is None else ""
    if isinstance(in_map, NeedsValue) or "must only return Tensors" in str(in_map):
        return ""
    if in_map is not None:
        return f"{in_map!r}, but alone {_shapes(wanted)}"
    if sample.written() or _shapes(made) == _shapes(wanted, 2):
        return ""
    return f"gives {_shapes(made)} where one gives {_shapes(wanted)}"


def _shapes(made: Any, *front: int) -> Any:
    if isinstance(made, taeda.Tensor):
        return ((*front, *made.shape), made.dtype)
    return [_shapes(part, *front) for part in made] if isinstance(made, (tuple, list)) else None


def check_refusals(family: str) -> None:
    """Every row of a family refuses in a map what it refuses alone, and nothing else."""
    wrong = []
    for name in names_of(family):
        if name in RANDOM or name in UNMAPPED or name in OF_PYTHON:
            continue
        for sample in samples(name, m=4, n=3, k=2):
            for what, call in spoiled(sample) if sample.tensors() else ():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if fault := _fault(call):
                        wrong.append(f"{sample}, {what}: {fault}")
    assert not wrong, "\n".join(wrong[:40])
