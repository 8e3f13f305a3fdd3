"""Rules of DTensors against the whole: calls of every row, cut in every way that its rule claims.

The ranks are threads. Each claimed strategy is called with tensors that lie as it says, and random
ways to lie are called too; what comes is put together and compared with the plain call.
"""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from rank_threads import on_threads
from samples import ROWS, Row, Sample, default_dtype, samples

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda._core_api.operators import forget_plans
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, _dispatch, _random_rows
from taeda.distributed.tensor._redistribute import redistributed
from taeda.distributed.tensor._rules.pointwise import find
from taeda.distributed.tensor._spec import Spec

__all__ = ["Counts", "faults", "rows_of", "rows_under"]

#: rows whose results hold what lay in memory, or no values
UNSET = ("empty", "new_empty", "_local_scalar_dense")


#: rows whose results jump where numbers change by rounding
JUMPS = ("view.dtype", "_linalg_eig", "_linalg_svd", "_linalg_qr", "geqrf")
#: what a rank may answer instead of numbers
REFUSED = (
    "in place", "would change the shape", "lie differently", "terms of a sum", "redistribute it so before",
)  # fmt: skip


class Counts:
    """How many strategies and random ways were called."""

    def __init__(self) -> None:
        self.claimed = self.random = 0
        self.rows: set[str] = set()


def rows_of() -> list[Row]:
    """The kernel rows whose samples have tensors."""
    return [
        row
        for row in ROWS.values()
        if row.kind != "composite" and not _random_rows.draws(row.schema.qualified)
    ]


def rows_under(module: Any) -> list[Row]:
    """The rows whose rule stands in this module; of None those without a rule."""
    made = []
    for row in rows_of():
        found: Any = find(row.schema.qualified)
        if (found is None and module is None) or (
            found is not None and module is not None and found.__module__ == module.__name__
        ):
            made.append(row)
    return made


def faults(
    rows: list[Row], ranks: int, seed: int, ways: int, counts: Counts, dtypes: tuple[str, ...] = ()
) -> list[str]:
    """What differs, on so many ranks, with `ways` random ways to lie beside each claimed one, in each
    row's own dtype and `dtypes`.
    """

    def work(rank: int) -> list[str]:
        mesh = dist.init_device_mesh("cpu", (ranks,))
        found: list[str] = []
        for row in rows:
            found += _of_row(row, mesh, seed, ways, counts if rank == 0 else Counts(), dtypes)
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = on_threads(ranks, work, seconds=900)
    return told[0]


def _of_row(
    row: Row, mesh: Any, seed: int, ways: int, counts: Counts, dtypes: tuple[str, ...]
) -> list[str]:
    found = []
    name = row.schema.qualified
    for dtype in dict.fromkeys((default_dtype(row), *dtypes)):
        for sample in _samples(row, dtype, seed):
            if not sample.tensors() or name.startswith(UNSET):
                continue
            try:
                whole = sample.map(lambda t: t.clone()).call()
            except RuntimeError:
                continue  # not for this dtype
            draw = random.Random(f"{name} {sample.number} {dtype} {seed}")
            for number, places in enumerate(_placements(sample, mesh, draw, ways, counts)):
                said = _differs(sample, whole, places, mesh, draw.randrange(1 << 30))
                if said:
                    found.append(f"{sample}, way {number} {[str(p) for p in places]}: {said}")
            counts.rows.add(name)
    return found


def _samples(row: Row, dtype: str, seed: int) -> Iterator[Sample]:
    try:
        yield from samples(row, dtype, seed=seed)
    except RuntimeError:
        return


def _placements(
    sample: Sample, mesh: Any, draw: random.Random, ways: int, counts: Counts
) -> list[Any]:
    """Ways in which the tensors lie: those that strategies claim, and random ones."""
    tensors = sample.tensors()
    made: list[Any] = [
        [Replicate() if place is None else place for place in strategy.ins]
        for strategy in _claimed(sample, mesh)
    ]
    counts.claimed += len(made)
    for _ in range(ways):
        way: list[Any] = []
        for tensor in tensors:
            choices: list[Any] = [Replicate(), *map(Shard, range(tensor.ndim))]
            if tensor.dtype.is_floating_point and not sample.row.schema.qualified.startswith(JUMPS):
                choices.append(Partial())
            way.append(draw.choice(choices))
        made.append(way)
        counts.random += 1
    return [way for way in made if len(way) == len(tensors) and _has_meaning(way, tensors)]


def _has_meaning(way: list[Any], tensors: list[Tensor]) -> bool:
    """Terms of these dtypes can be put together."""
    for place, tensor in zip(way, tensors, strict=True):
        if isinstance(place, Partial):
            if tensor.dtype.is_complex and place.reduce_op not in ("sum", "product"):
                return False
            if place.reduce_op == "avg" and not tensor.dtype.is_floating_point:
                return False
    return True


class _Heard(threading.local):
    """The strategies that rules gave on this thread."""

    said: list[Any] | None = None


_heard = _Heard()
_answer = _dispatch._strategies


def _listening(func: Any, row: str, call: Any) -> Any:
    made = _answer(func, row, call)
    if _heard.said is not None and not _heard.said:
        _heard.said.extend(made)
    return made


def _claimed(sample: Sample, mesh: Any) -> list[Any]:
    """The strategies of the row for these arguments, as the rule says them."""
    _dispatch._strategies = _listening
    mesh._plans.clear()
    forget_plans()
    _heard.said = []
    try:
        sample.map(lambda t: DTensor(t.clone(), Spec.of(mesh, [Replicate()], t.shape))).call()
        return list(_heard.said)
    except RuntimeError:
        return []
    finally:
        _heard.said = None


def _differs(sample: Sample, whole: Any, places: list[Any], mesh: Any, seed: int) -> str:
    """What differs at the first call, or at the second, which may go by a plan of the first."""
    first = _call_differs(sample, whole, places, mesh, seed)
    again = "" if first else _call_differs(sample, whole, places, mesh, seed)
    return first or (again and f"the second time: {again}")


def _call_differs(sample: Sample, whole: Any, places: list[Any], mesh: Any, seed: int) -> str:
    left = iter(places)
    maker = taeda.Generator().manual_seed(seed)

    def cut(tensor: Tensor) -> Any:
        place = next(left)
        spec = Spec.of(mesh, [place], tensor.shape)
        if isinstance(place, Partial):
            return DTensor(_term(tensor, place, mesh, maker), spec)
        return DTensor(redistributed(tensor.clone(), spec.whole(), spec).clone(), spec)

    try:
        made = sample.map(cut).call()
        return _compare(made, whole, mesh, 2e-3 if sample.dtype == "float32" else 1e-9)
    except RuntimeError as error:
        if any(words in str(error) for words in REFUSED):
            return ""
        return f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - told
        return f"{type(error).__name__}: {error}"


def _term(tensor: Tensor, place: Any, mesh: Any, maker: Any) -> Tensor:
    """A random term of a tensor on each rank; only sums."""
    ranks, me = mesh.size(), mesh.get_local_rank()
    if place.reduce_op == "product" and me:
        return taeda.ones_like(tensor)
    if place.reduce_op != "sum":
        return tensor.clone()
    drawn = [
        taeda.rand(tensor.shape, generator=maker, dtype=taeda.float64) for _ in range(ranks - 1)
    ]
    shares = [(one / ranks).to(tensor.dtype) for one in drawn]
    if me < ranks - 1:
        return tensor * shares[me]
    last = tensor.clone()
    for one in shares:
        last = last - tensor * one
    return last


def _compare(made: Any, whole: Any, mesh: Any, near: float) -> str:
    if isinstance(whole, (list, tuple)):
        if len(made) != len(whole):
            return f"{len(made)} results for {len(whole)}"
        pairs = zip(made, whole, strict=True)
        return next((said for a, b in pairs if (said := _compare(a, b, mesh, near))), "")
    if not isinstance(whole, Tensor):
        return "" if made == whole or whole != whole else f"{made} for {whole}"
    if not isinstance(made, DTensor):
        made = DTensor(made, Spec.of(mesh, [Replicate()], made.shape))
    if made.shape != whole.shape or made.dtype != whole.dtype:
        return f"{tuple(made.shape)} {made.dtype} for {tuple(whole.shape)} {whole.dtype}"
    got = made.detach().full_tensor()
    if whole.dtype.is_floating_point or whole.dtype.is_complex:
        if not taeda.allclose(got, whole.detach(), rtol=near, atol=near, equal_nan=True):
            return f"{got.tolist()} for {whole.tolist()} as {made.placements}"[:400]
    elif not taeda.equal(got, whole):
        return f"{got.tolist()} for {whole.tolist()} as {made.placements}"[:400]
    return ""
