"""`out=` of every kind holds what the call gives without it, or is refused; a refusal leaves the
inputs as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from layouts import LAYOUTS, copy_of
from outcomes import DOCUMENTED, Outcome, difference, outcome_of
from samples import Row, Sample, samples

import taeda

__all__ = ["APART", "faults"]

Tensor = taeda.Tensor
#: rows that this does not hold for, and why
APART = {
    "empty.memory_format": "what it gives holds no values",
    "native_batch_norm": "it counts the batch in the running statistics before it looks at the targets",
    "nonzero.tuple": "it gives as many tensors as there are dimensions",
}
#: targets of the result's own dtype that share no memory with an input: nothing to refuse
_PLAIN = ("fresh", "empty", "transposed", "stepped", "offset", "channels_last")


def faults(row: Row, dtype: str, *, seed: int = 0, **sizes: int) -> Iterator[str]:
    """Every sample of a row that has `out=`, with targets fresh, laid out otherwise, of other
    shapes and dtypes, and its inputs.
    """
    if "out" not in row.variants or row.schema.qualified in APART:
        return
    for sample in samples(row, dtype, seed=seed, **sizes):
        taeda.manual_seed(1)
        plain = outcome_of(sample.call)
        if plain.error or not all(isinstance(r, Tensor) for r in plain.results):
            continue
        for name, made in _targets(sample, plain.results):
            said = _one(sample, plain, made, may_refuse=name not in _PLAIN)
            if said:
                yield f"{sample}, {name}: {said}"


def _targets(sample: Sample, results: list[Tensor]) -> Iterator[tuple[str, Any]]:
    """(name, function that makes the sample and its targets anew)."""

    def fresh(change: Any) -> Any:
        return lambda: (sample.map(copy_of), [change(r) for r in results])

    yield "fresh", fresh(lambda r: taeda.full_like(r, 7))
    yield "empty", fresh(lambda r: taeda.empty(0, dtype=r.dtype))
    for name in ("transposed", "stepped", "offset", "channels_last", "conjugate", "negative"):
        layout = LAYOUTS[name]
        if all(layout(r) is not None for r in results):
            yield name, fresh(lambda r, layout=layout: layout(taeda.ones_like(r)))
    yield "another shape", fresh(lambda r: taeda.ones((*r.shape, 2), dtype=r.dtype))
    for dtype in (taeda.float64, taeda.float32, taeda.int64, taeda.complex128, taeda.bfloat16):
        yield str(dtype), fresh(lambda r, dtype=dtype: taeda.ones(r.shape, dtype=dtype))
    if all(r.dim() and r.shape[0] > 1 for r in results):
        yield (
            "expanded",
            fresh(lambda r: taeda.ones((1, *r.shape[1:]), dtype=r.dtype).expand(r.shape)),
        )
    if len(results) == 1:
        yield from _inputs(sample, results[0])


def _inputs(sample: Sample, result: Tensor) -> Iterator[tuple[str, Any]]:
    """An input itself, and memory that meets that of an input."""
    for number, t in enumerate(sample.tensors()):

        def itself(number: int = number) -> Any:
            again = sample.map(copy_of)
            return again, [again.tensors()[number]]

        if t.shape == result.shape and t.dtype == result.dtype:
            yield f"input {number}", itself
            yield f"beside input {number}", lambda number=number: _beside(sample, number)
            if t.dim() > 1 and t.shape[0] == t.shape[1]:
                yield f"input {number} turned", lambda number=number: _turned(sample, number)


def _beside(sample: Sample, number: int) -> Any:
    """The target begins one element behind the input."""
    again = sample.map(copy_of)
    old = again.tensors()[number]
    base = taeda.zeros(old.numel() + 1, dtype=old.dtype)
    base[:-1].copy_(old.reshape(-1))
    return _replaced(again, number, base[:-1].view(old.shape)), [base[1:].view(old.shape)]


def _turned(sample: Sample, number: int) -> Any:
    again = sample.map(copy_of)
    return again, [again.tensors()[number].transpose(0, 1)]


def _replaced(sample: Sample, number: int, new: Tensor) -> Sample:
    count = iter(range(len(sample.tensors())))
    return sample.map(lambda t: new if next(count) == number else t)


def _one(sample: Sample, plain: Outcome, make: Any, may_refuse: bool) -> str:
    again, out = make()
    before = [copy_of(t) for t in again.tensors()]
    taeda.manual_seed(1)
    given = out[0] if len(out) == 1 else tuple(out)
    made = outcome_of(lambda: again.call(out=given))
    if made.error and not may_refuse:
        return f"refused: {made}"
    if made.error:
        kept = zip(again.tensors(), before, strict=True)
        return "" if all(_same(a, b) for a, b in kept) else f"refused, and an input changed: {made}"
    for number, (target, result, wanted) in enumerate(
        zip(out, made.results, plain.results, strict=True)
    ):
        if result is not target:
            return f"result {number} is not the target"
        # a target of another dtype is computed in, or what is computed anyway is converted
        said = ""
        for one in (_in_dtype_of(sample, target, wanted), wanted):
            said = difference(target, one.to(target.dtype), _epsilons(sample, target, one))
            if not said:
                break
        if said:
            return f"target {number}: {said}"
    return ""


def _in_dtype_of(sample: Sample, target: Tensor, wanted: Tensor) -> Tensor:
    """What the call gives when it is asked for the target's dtype: rows that take one compute in it."""
    takes = any(a.name == "dtype" for a in sample.row.schema.arguments)
    if not takes or target.dtype == wanted.dtype or sample.kwargs.get("dtype"):
        return wanted
    taeda.manual_seed(1)
    asked = outcome_of(lambda: sample.map(copy_of).call(dtype=target.dtype))
    return wanted if asked.error else asked.results[0]


def _epsilons(sample: Sample, target: Tensor, wanted: Tensor) -> float | None:
    inexact = target.is_floating_point() or target.is_complex()
    return 64.0 if inexact and wanted.dtype == target.dtype else 2.0 if inexact else None


def _same(a: Tensor, b: Tensor) -> bool:
    try:
        return not difference(copy_of(a), b, None)
    except DOCUMENTED:
        return False
