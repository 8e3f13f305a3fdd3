"""A call whose arguments share memory with what it writes gives what it gives for copies of them,
or is refused.

Every other argument is laid over every tensor that is written: from its first byte on, some
elements behind it, with steps between its elements; through another dtype where theirs differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from layouts import copy_of
from outcomes import array, difference, outcome_of
from samples import Row, Sample, samples

import taeda
from taeda._native import core

from .memory_order import epsilons_of

__all__ = ["APART", "faults"]

Tensor = taeda.Tensor
#: rows that this does not hold for, and why
APART = {
    "nonzero.tuple": "it gives as many tensors as there are dimensions",
    "as_strided_copy": "it reads memory beside its argument, which a copy of that does not have",
}
#: of a layout with steps it is not known whether it shares elements; elementwise rows compute then,
#: as programs step through one buffer
_UNSEEN = "stepped"
_WORD = 16  # bytes: every dtype may begin there

#: makes the call and gives what was written
Run = Callable[[Sample, Tensor], list[Any]]


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of a row in each form that writes: what its schema says, in place, `out=`."""
    if row.family == "random" or row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        for name, written, run in _forms(sample):
            for number, argument in enumerate(sample.tensors()):
                if all(argument is not t for t in (written, *sample.written())):
                    yield from _over(sample, number, written, run, name)


def _forms(sample: Sample) -> Iterator[tuple[str, Tensor, Run]]:
    """(name, a tensor that is written, what makes the call)."""
    row = sample.row
    # lists go pair by pair: one may read what an earlier one wrote
    lists = row.schema.name.startswith("_foreach_")
    for written in sample.written():
        yield "written", written, lambda again, target: [again.call(), target][lists:]
    if "inplace" in row.variants and sample.args and isinstance(sample.args[0], Tensor):
        name = f"{row.schema.name}_"
        method = getattr(Tensor, name, None) or core.functions[row.namespace][name]
        yield "in place", sample.args[0], lambda again, _: [method(*again.args, **again.kwargs)]
    if "out" in row.variants:
        plain = outcome_of(sample.call)
        for number, result in enumerate(plain.results):
            if isinstance(result, Tensor):
                yield "out", result, _out(plain.results, number)


def _out(results: list[Any], number: int) -> Run:
    def run(again: Sample, target: Tensor) -> list[Any]:
        given = [taeda.zeros_like(r) for r in results]
        given[number] = target
        again.call(out=given[0] if len(given) == 1 else tuple(given))
        return given

    return run


def _over(sample: Sample, number: int, written: Tensor, run: Run, form: str) -> Iterator[str]:
    argument = sample.tensors()[number]
    for how in ("whole", "shifted", "before", _UNSEEN):
        if how == _UNSEEN and sample.row.kind == "pointwise":
            continue
        laid = _laid(written, argument, how)
        if laid is None:
            continue
        target, part = laid
        again = _replaced(sample, {id(argument): part, id(written): target})
        said = _compared(again, target, run)
        if said:
            yield f"{sample}, {form}, argument {number} {how}: {said}"


def _laid(written: Tensor, argument: Tensor, how: str) -> tuple[Tensor, Tensor] | None:
    """Both in one piece of memory. The numbers of the argument are there, as an index has to fit; of
    those of `written`, what they leave.
    """
    if not (written.numel() and argument.numel()):
        return None
    if written.dtype is taeda.bool and argument.dtype is not taeda.bool:
        return None  # bytes that are neither of the two truth values
    steps = 2 if how == _UNSEEN else 1
    if steps == 2 and (argument.dim() == 0 or argument.dtype is not written.dtype):
        return None
    size = max(_bytes(written), steps * _bytes(argument))
    base = taeda.zeros(3 * _WORD + size, dtype=taeda.uint8)
    behind = _WORD if how == "shifted" else 0
    target = _view(base, written, _WORD if how == "before" else 0, 1)
    part = _view(base, argument, behind, steps)
    with taeda.no_grad():
        target.copy_(written)
        part.copy_(argument)
    return target, part


def _bytes(t: Tensor) -> int:
    return t.numel() * t.element_size()


def _view(base: Tensor, like: Tensor, begin: int, steps: int) -> Tensor:
    """`steps` elements of memory for one of the last dimension."""
    line = base[begin : begin + steps * _bytes(like)].view(like.dtype)
    if steps == 1:
        return line.view(like.shape)
    return line.view(*like.shape, steps)[..., 0]


def _largest(t: Tensor) -> float:
    """Of its finite numbers."""
    numbers = np.abs(array(t).astype(complex))
    return float(numbers[np.isfinite(numbers)].max(initial=0))


def _replaced(sample: Sample, new: dict[int, Tensor]) -> Sample:
    return sample.map(lambda t: new.get(id(t), t))


def _compared(aliased: Sample, target: Tensor, run: Run) -> str:
    place = next((k for k, t in enumerate(aliased.tensors()) if t is target), None)
    apart = replace(aliased).map(copy_of)
    own = copy_of(target) if place is None else apart.tensors()[place]
    taeda.manual_seed(1)
    wanted = outcome_of(lambda: run(apart, own))
    if wanted.error:
        return ""
    taeda.manual_seed(1)
    made = outcome_of(lambda: run(aliased, target))
    if made.error:
        return "" if isinstance(made.error, RuntimeError) else f"refused as {made}"
    epsilons = max(64.0, epsilons_of(aliased.row) or 0.0)  # the argument lies in another layout
    for found, right in zip(made.results, wanted.results, strict=True):
        said = difference(found, right, epsilons) if isinstance(right, Tensor) else ""
        if said:  # what is left of terms may be smaller than they are
            terms = max((_largest(t) for t in apart.tensors() if t is not own), default=0.0)
            said = difference(found, right, epsilons, terms)
        if said:
            return said
    return ""
