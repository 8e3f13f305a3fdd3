"""Random programs of DTensors: on threads, on any mesh, they give one device's numbers.

A program is a list of steps over a growing list of tensors: operators, views, writes in place,
results written into others, ways to lie; its gradients and second gradients are asked for. The same
list runs on plain tensors and on DTensors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import Tensor
from taeda.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

__all__ = ["MESHES", "faults"]

MESHES = [(1, 2), (1, 3), (2, 2), (2, 3)]
SHAPES = [(4, 6), (5, 6), (6, 5), (6,), (5,), (2, 3, 6), (1, 6), (6, 1)]

Step = tuple[str, tuple[int, ...], Any]

UNARY: dict[str, Callable[[Tensor, random.Random], Callable[[Tensor], Tensor]]] = {}


def _unary(name: str) -> Any:
    def keep(function: Any) -> Any:
        UNARY[name] = function
        return function

    return keep


for _name in ("tanh", "sin", "sigmoid", "square", "neg", "relu"):
    UNARY[_name] = lambda x, draw, name=_name: lambda t: getattr(t, name)()  # type: ignore[misc]  # by name


@_unary("sum")
def _sum(x: Tensor, draw: random.Random) -> Any:
    dim, keep = draw.randrange(x.ndim), draw.random() < 0.5
    return lambda t: t.sum(dim, keep)


@_unary("mean")
def _mean(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    return lambda t: t.mean(dim, True)


@_unary("amax")
def _amax(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    return lambda t: t.amax(dim, True)


@_unary("softmax")
def _softmax(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    return lambda t: t.softmax(dim)


@_unary("cumsum")
def _cumsum(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    return lambda t: t.cumsum(dim)


@_unary("transpose")
def _transpose(x: Tensor, draw: random.Random) -> Any:
    a, b = draw.randrange(x.ndim), draw.randrange(x.ndim)
    return lambda t: t.transpose(a, b)


@_unary("reshape")
def _reshape(x: Tensor, draw: random.Random) -> Any:
    count = x.numel()
    width = draw.choice([n for n in range(1, count + 1) if count % n == 0])
    return lambda t: t.reshape(count // width, width)


@_unary("flatten")
def _flatten(x: Tensor, draw: random.Random) -> Any:
    return lambda t: t.flatten()


@_unary("slice")
def _slice(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    size = x.shape[dim]
    begin = draw.randrange(size)
    length = draw.randint(1, size - begin)
    return lambda t: t.narrow(dim, begin, length)


@_unary("select")
def _select(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    place = draw.randrange(x.shape[dim])
    return lambda t: t.select(dim, place) if t.ndim > 1 else t.narrow(0, place, 1)


@_unary("unsqueeze")
def _unsqueeze(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randint(0, x.ndim)
    return lambda t: t.unsqueeze(dim) if t.ndim < 4 else t


@_unary("flip")
def _flip(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    return lambda t: t.flip(dim)


@_unary("tril")
def _tril(x: Tensor, draw: random.Random) -> Any:
    diagonal = draw.randint(-2, 2)
    return lambda t: t.tril(diagonal) if t.ndim > 1 else t


@_unary("expand")
def _expand(x: Tensor, draw: random.Random) -> Any:
    return lambda t: t.expand(2, *t.shape) if t.ndim < 3 else t


@_unary("layer_norm")
def _layer_norm(x: Tensor, draw: random.Random) -> Any:
    return lambda t: taeda.nn.functional.layer_norm(t, t.shape[-1:], eps=0.1)


@_unary("scale")
def _scale(x: Tensor, draw: random.Random) -> Any:
    number = draw.choice([0.5, -1.5, 2.0])
    return lambda t: t * number + 1


@_unary("gather")
def _take(x: Tensor, draw: random.Random) -> Any:
    dim = draw.randrange(x.ndim)
    rows = [draw.randrange(x.shape[dim]) for _ in range(draw.randint(1, 4))]

    def act(t: Tensor) -> Tensor:
        index: Any = taeda.tensor(rows)
        if isinstance(t, DTensor):
            index = distribute_tensor(index, t.device_mesh)
        return t.index_select(dim, index)

    return act


BINARY: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b * 0.5,
    "mul": lambda a, b: a * b,
    "maximum": lambda a, b: a.maximum(b),
    "where": lambda a, b: taeda.where(a > 0, a, b),
}


def _broadcasts(a: Tensor, b: Tensor) -> bool:
    pairs = zip(reversed(a.shape), reversed(b.shape), strict=False)
    return all(x == y or 1 in (x, y) for x, y in pairs)


class Program:
    """The steps of a seed, made while they run on plain tensors."""

    def __init__(self, seed: int, length: int) -> None:
        self.draw = random.Random(seed)
        self.seed, self.length = seed, length
        maker = taeda.Generator().manual_seed(seed)
        self.inputs = [
            taeda.randn(self.draw.choice(SHAPES), generator=maker, dtype=taeda.float64)
            for _ in range(3)
        ]
        self.steps: list[tuple[str, tuple[int, ...], Any]] = []

    def plain(self) -> list[Any]:
        """Run on plain tensors, making the steps; what a mesh must give."""
        leaves = [x.clone().requires_grad_() for x in self.inputs]
        held: list[Tensor] = list(leaves)
        while len(self.steps) < self.length:
            step = self._step(held)
            if step is not None:
                self.steps.append(step)
                _act(step, held, None)
        return _results(held, leaves, self.draw.random() < 0.5)

    def _step(self, held: list[Tensor]) -> Any:
        draw = self.draw
        kind = draw.random()
        at = draw.randrange(len(held))
        x = held[at]
        if x.ndim == 0 or x.numel() == 0 or x.numel() > 600:
            return None
        if kind < 0.5:
            name = draw.choice(sorted(UNARY))
            return name, (at,), UNARY[name](x, draw)
        other = draw.randrange(len(held))
        y = held[other]
        if kind < 0.7:
            if not _broadcasts(x, y) or max(x.numel(), y.numel()) > 300:
                return None
            name = draw.choice(sorted(BINARY))
            return name, (at, other), BINARY[name]
        if kind < 0.78:
            if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[0]:
                return None
            return "mm", (at, other), lambda a, b: a @ b
        if kind < 0.84:
            if x.shape != y.shape:
                return None
            dim = draw.randrange(x.ndim)
            return "cat", (at, other), lambda a, b: taeda.cat([a, b], dim)
        if kind < 0.92:
            if at < len(self.inputs):
                return None  # a leaf
            name = draw.choice(["mul_", "add_", "tanh_", "zero_"])
            return name, (at,), None
        return "lie", (at,), draw.randrange(1 << 30)


def _act(step: Step, held: list[Any], mesh: Any) -> None:
    name, places, function = step
    values = [held[place] for place in places]
    if name == "lie":
        held.append(
            values[0] * 1 if mesh is None else _lie(values[0], mesh, random.Random(function))
        )
    elif name.endswith("_"):
        x = values[0].clone()
        kept = x.transpose(0, -1)
        {"mul_": lambda t: t.mul_(0.5), "add_": lambda t: t.add_(1.0), "tanh_": lambda t: t.tanh_(),
         "zero_": lambda t: t.narrow(0, 0, 1).mul_(2.0)}[name](x)  # fmt: skip
        held.append(kept + 0)
    else:
        made = function(*values)
        held.append(made * 0.3 if made.numel() else made)


def _lie(x: Any, mesh: Any, draw: random.Random) -> Any:
    places = [draw.choice([Replicate(), *map(Shard, range(x.ndim))]) for _ in range(mesh.ndim)]
    return x.redistribute(placements=places)


def _results(held: list[Any], leaves: list[Any], second: bool) -> list[Any]:
    loss = sum((value.square().sum() if value.numel() else value.sum()) for value in held[3:])
    grads = taeda.autograd.grad(loss, leaves, create_graph=second, allow_unused=True)
    made: list[Any] = [loss, *held[3:], *grads]
    if second:
        known = [g for g in grads if g is not None and g.requires_grad]
        if known:
            again = sum(g.square().sum() for g in known)
            made += taeda.autograd.grad(again, leaves, allow_unused=True)
    return made


def faults(seeds: range, mesh_shape: tuple[int, ...], length: int = 8) -> tuple[list[str], int]:
    """What differs between a mesh and one device, and how many programs were refused in words."""
    programs = [Program(seed, length) for seed in seeds]
    wanted = [
        [None if one is None else one.detach() for one in program.plain()] for program in programs
    ]
    second = [len(w) > 1 + program.length + 3 for w, program in zip(wanted, programs, strict=True)]

    def work(rank: int) -> tuple[list[str], int]:
        mesh = dist.init_device_mesh("cpu", mesh_shape)
        found, refused = [], 0
        for program, want, twice in zip(programs, wanted, second, strict=True):
            said = _differs(program, want, twice, mesh)
            said = said or _differs(program, want, twice, mesh)  # by plans of the first time
            if said.startswith("refused"):
                refused += 1
            elif said:
                found.append(f"seed {program.seed} on {mesh_shape}: {said}")
        return found, refused

    return on_threads(math.prod(mesh_shape), work, seconds=900)[0]


def _differs(program: Program, wanted: list[Any], second: bool, mesh: Any) -> str:
    draw = random.Random(program.seed + 7)
    leaves = []
    for x in program.inputs:
        places = [draw.choice([Replicate(), *map(Shard, range(x.ndim))]) for _ in range(mesh.ndim)]
        leaves.append(distribute_tensor(x, mesh, places).requires_grad_())
    held: list[Any] = list(leaves)
    try:
        for step in program.steps:
            _act(step, held, mesh)
        made = _results(held, leaves, second)
    except RuntimeError as error:
        if "this view of shape" in str(error) or " in place: parts of" in str(error):
            return f"refused: {error}"
        return f"{type(error).__name__}: {error} after {[s[0] for s in program.steps[: len(held) - 2]]}"
    for number, (got, want) in enumerate(zip(made, wanted, strict=True)):
        if (got is None) != (want is None):
            return f"result {number} is {got}, wanted {want}"
        if got is None:
            continue
        whole = got.detach().full_tensor()
        if whole.shape != want.shape or not taeda.allclose(whole, want, rtol=1e-7, atol=1e-9):
            return f"result {number} of {[s[:2] for s in program.steps]}: {whole} for {want}"[:600]
    return ""
