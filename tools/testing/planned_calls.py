"""Calls on DTensors that may go by a plan, made again and again in changing order.

A second call goes by what the first one noted; a fact that the note lacks gives a wrong answer only
then. Each row is called in several ways that differ in one fact: the number, the dtype by default,
the mode, how a tensor lies in memory, its class. The oracle is the same call while no plan is used.
"""

from __future__ import annotations

import contextlib
import random
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from dtensor_calls import JUMPS, UNSET, rows_of
from rank_threads import on_threads
from samples import Row, Sample, default_dtype, samples

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda._core_api.operators import forget_plans, hold_plans
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard
from taeda.distributed.tensor._redistribute import redistributed
from taeda.distributed.tensor._spec import Spec

__all__ = ["differences"]

MODES: dict[str, Callable[[], Any]] = {
    "plain": contextlib.nullcontext,
    "no_grad": taeda.no_grad,
    "inference": taeda.inference_mode,
    "autocast": lambda: taeda.autocast("cpu", dtype=taeda.bfloat16),
    "requires grad": contextlib.nullcontext,
}
DEFAULTS = (taeda.float32, taeda.float32, taeda.float64, taeda.float16)
DTYPES = ("float32", "int64", "complex128", "bool")


class Sub(DTensor):
    """A class of a user, whose calls are not planned."""


@dataclass(frozen=True)
class Terms:
    """A number as terms that the ranks add up."""

    value: float


@dataclass(frozen=True)
class Way:
    """One call and the facts around it."""

    sample: Sample
    places: tuple[Any, ...]
    number: tuple[int, Any] | None  # which argument is another number
    memory: str
    mode: str
    default: taeda.dtype
    kind: type
    seed: int

    def __str__(self) -> str:
        facts = self.places, self.number, self.memory, self.mode, self.default, self.kind.__name__
        return f"{self.sample}, {facts}"


def _numbers(value: Any) -> list[Any]:
    count = abs(int(value)) if abs(value) < 100 else 1
    plain = [float(count), count, bool(count), 0.0, -0.0, 0, complex(count)]
    return [value, *plain, taeda.tensor(float(count)), taeda.tensor(count), Terms(count)]


def _places(sample: Sample, draw: random.Random) -> tuple[Any, ...]:
    made = []
    for tensor in sample.tensors():
        choices: list[Any] = [Replicate(), *map(Shard, range(tensor.ndim))]
        if tensor.dtype.is_floating_point and not sample.row.schema.qualified.startswith(JUMPS):
            choices.append(Partial())
        made.append(draw.choice(choices))
    return tuple(made)


def _ways(row: Row, seed: int, bases: int, variants: int, sizes: dict[str, int]) -> list[Way]:
    """Some calls of a row, each in ways that differ in a fact or two."""
    draw = random.Random(f"{row.schema.qualified} {seed}")
    pool = []
    for dtype in dict.fromkeys((default_dtype(row), *DTYPES)):
        with contextlib.suppress(RuntimeError):
            pool += [one for one in samples(row, dtype, seed=seed, **sizes) if one.tensors()]
    made = []
    for _ in range(bases if pool else 0):
        sample = draw.choice(pool)
        places, memory = _places(sample, draw), draw.choice(("rows", "columns", "gaps"))
        at = [k for k, one in enumerate(sample.args) if type(one) in (int, float)]
        at = [k for k in at if row.schema.arguments[k].base == "Scalar"]
        for _ in range(variants):
            place = draw.choice(at) if at and draw.random() < 0.5 else None
            made.append(
                Way(
                    sample,
                    places,
                    None if place is None else (place, draw.choice(_numbers(sample.args[place]))),
                    draw.choice((memory, memory, "rows")),
                    draw.choice(list(MODES)),
                    draw.choice(DEFAULTS),
                    draw.choice((DTensor, DTensor, DTensor, Sub)),
                    draw.randrange(1 << 30),
                )
            )
    return made


def _in_memory(tensor: Tensor, memory: str) -> Tensor:
    if memory == "columns" and tensor.ndim > 1:
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)
    if memory == "gaps" and tensor.ndim:
        return taeda.stack([tensor, tensor], -1)[..., 0]
    return tensor


def _cutter(way: Way, mesh: Any, made: list[Tensor]) -> Callable[[Tensor], Tensor]:
    places, maker = iter(way.places), taeda.Generator().manual_seed(way.seed)

    def cut(tensor: Tensor) -> Tensor:
        spec = Spec.of(mesh, [next(places)], tensor.shape)
        if spec.is_partial:
            share = taeda.rand(tensor.shape, generator=maker, dtype=taeda.float64).to(tensor.dtype)
            rest = tensor - tensor * share if mesh.get_local_rank() == 1 else tensor * 0
            local = rest if mesh.get_local_rank() else tensor * share
        else:
            local = redistributed(tensor.clone(), spec.whole(), spec).clone()
        strides = None if way.memory == "gaps" else _in_memory(tensor, way.memory).stride()
        one = way.kind(_in_memory(local, way.memory), spec, strides=strides)
        floats = one.dtype.is_floating_point or one.dtype.is_complex
        made.append(one.requires_grad_(way.mode == "requires grad" and floats))
        return made[-1]

    return cut


def _numbered(sample: Sample, number: tuple[int, Any] | None, mesh: Any) -> Sample:
    if number is None:
        return sample
    place, value = number
    if isinstance(value, Terms):
        share = float(value.value) if mesh.get_local_rank() == 0 else 0.0
        value = DTensor(taeda.tensor(share), Spec.of(mesh, [Partial()], ()))
    return replace(sample, args=(*sample.args[:place], value, *sample.args[place + 1 :]))


def _told(made: Any, given: list[Tensor]) -> Any:
    """All that a user can see of an answer."""
    if isinstance(made, (list, tuple)):
        return [_told(one, given) for one in made]
    if not isinstance(made, Tensor):
        return type(made), made
    facts = (
        type(made), made.dtype, tuple(made.shape), made.stride(), made.requires_grad, made.is_leaf,
        made.is_inference(), made._is_view(), type(made.grad_fn),
        [made is one for one in given], [made._base is one for one in given],
    )  # fmt: skip
    if not isinstance(made, DTensor):
        return *facts, made.detach().tolist()
    local = made._local.detach()
    lies = made.placements, made._copied_from is None, local.stride(), local.dtype
    return *facts, *lies, tuple(local.shape), local.tolist()


def _outcome(way: Way, mesh: Any, together: _Together) -> str:
    given: list[Tensor] = []
    with together.default(way.default):
        sample = _numbered(way.sample.map(_cutter(way, mesh, given)), way.number, mesh)
        try:
            with MODES[way.mode]():
                answer = sample.call()
            said = _told(answer, given)
        except Exception as error:  # noqa: BLE001 - compared
            said = type(error), re.sub(r"0x[0-9a-f]+", "", str(error))
    after = [(one._version, one._local.detach().tolist()) for one in given]  # type: ignore[attr-defined]
    return repr((said, after))


class _Together:
    """The dtype by default is the process's: its threads set it together."""

    def __init__(self, ranks: int) -> None:
        self.barrier = threading.Barrier(ranks, timeout=60)

    def _set(self, dtype: taeda.dtype) -> None:
        if self.barrier.wait() == 0:
            taeda.set_default_dtype(dtype)
        self.barrier.wait()

    @contextlib.contextmanager
    def default(self, dtype: taeda.dtype) -> Iterator[None]:
        """Inside, on all ranks."""
        self._set(dtype)
        try:
            yield
        finally:
            self._set(taeda.float32)


def _of_row(
    row: Row, mesh: Any, together: _Together, seed: int, counts: list[int], **ways: Any
) -> list[str]:
    chosen = _ways(row, seed, **ways)
    wanted = []
    for way in chosen:
        mesh._plans.clear()
        hold_plans(True)
        try:
            wanted.append(_outcome(way, mesh, together))
        finally:
            hold_plans(False)
    mesh._plans.clear()
    forget_plans()
    order = [*range(len(chosen))] * 3
    random.Random(seed).shuffle(order)
    found = []
    for at in order:
        got = _outcome(chosen[at], mesh, together)
        counts[0] += 1
        if got != wanted[at]:
            found.append(f"{chosen[at]}: {got[:600]} for {wanted[at][:600]}")
    return found


def differences(
    ranks: int, seed: int, rows: str = "", bases: int = 1, variants: int = 5, **sizes: int
) -> tuple[int, list[str]]:
    """How many calls were made on so many ranks, and what differs from the call without plans."""
    together, counts = _Together(ranks), [[0] for _ in range(ranks)]
    chosen = [row for row in rows_of() if re.match(rows, row.schema.qualified)]
    chosen = [row for row in chosen if not row.schema.qualified.startswith(UNSET)]

    def work(rank: int) -> list[str]:
        mesh = dist.init_device_mesh("cpu", (ranks,))
        found: list[str] = []
        options = {"bases": bases, "variants": variants, "sizes": sizes}
        for row in chosen:
            found += _of_row(row, mesh, together, seed, counts[rank], **options)
        return found

    told = on_threads(ranks, work, seconds=900)
    return counts[0][0], [one for rank in told for one in rank]
