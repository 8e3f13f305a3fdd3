"""Operators of DTensors: the numbers of the whole, or a refusal by name."""

from __future__ import annotations

import math

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor
from taeda.distributed.tensor._rules import ELEMENTWISE

CALLS = {
    "addcdiv": lambda x, y: x.addcdiv(y, y + 3),
    "addcmul": lambda x, y: x.addcmul(y, y, value=0.5),
    "clamp": lambda x, y: x.clamp(0.1, 0.4),
    "clamp_max": lambda x, y: x.clamp_max(0.4),
    "clamp_min": lambda x, y: x.clamp_min(0.4),
    "fill": lambda x, y: taeda.fill(x, 3.0),
    "full_like": lambda x, y: taeda.full_like(x, 3.0),
    "lerp": lambda x, y: x.lerp(y, 0.3),
    "masked_fill": lambda x, y: x.masked_fill(x > y, 2.0),
    "pow": lambda x, y: x**3,
    "where": lambda x, y: taeda.where(x > y, x, y),
    "_to_copy": lambda x, y: x.double(),
    "copy": lambda x, y: x.clone().copy_(y),
    "zero": lambda x, y: x.clone().zero_(),
    "empty_like": lambda x, y: taeda.empty_like(x).fill_(1.0),
    "detach": lambda x, y: x.detach(),
}
BINARY = {"add", "div", "eq", "ge", "gt", "le", "lt", "maximum", "minimum", "mul", "ne", "sub"} | {
    "logical_and",
    "logical_or",
}


def call(name: str, x, y):
    if name in CALLS:
        return CALLS[name](x, y)
    return getattr(taeda, name)(x, y) if name in BINARY else getattr(taeda, name)(x)


def test_every_elementwise_operator_gives_the_numbers_of_the_whole():
    generator = taeda.Generator().manual_seed(1)
    x, y = (taeda.rand(5, 3, generator=generator) for _ in range(2))

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        for cut in (Shard(0), Shard(1), Replicate()):
            a, b = (distribute_tensor(t, mesh, [cut]) for t in (x, y))
            for name in sorted(ELEMENTWISE):
                got = call(name, a, b)
                wanted = call(name, x, y)
                assert got.placements == (cut,) and got.dtype == wanted.dtype, name
                assert got.full_tensor().tolist() == wanted.tolist(), name

    on_threads(3, work)


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, 0.0, math.inf, -math.inf])
def test_the_norm_counts_each_element_once(p):
    generator = taeda.Generator().manual_seed(1)
    values = [taeda.randn(5, 3, generator=generator), taeda.randn(1, generator=generator)]
    wanted = nn.utils.get_total_norm(values, p).item()

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        for cut in (Shard(0), Replicate()):
            mixed = [distribute_tensor(values[0], mesh, [cut]), values[1]]
            for tensors in (mixed, [distribute_tensor(t, mesh, [cut]) for t in values]):
                got = nn.utils.get_total_norm(tensors, p)
                assert abs(got.item() - wanted) < 1e-5 and got.dtype == taeda.float32

    on_threads(3, work)


def test_what_parts_cannot_answer_is_refused():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.ones(4, 2), mesh, [Shard(0)])
        other = distribute_tensor(taeda.ones(4, 2), mesh, [Shard(1)])
        one = distribute_tensor(taeda.ones(1), mesh, [Replicate()])
        for refused in (
            lambda: x.sum(), lambda: x @ x, lambda: x.view(-1), lambda: x[0], lambda: x.t(),
            lambda: taeda.rand_like(x), lambda: x.softmax(0), lambda: x.cumsum(0), lambda: one.item(),
        ):  # fmt: skip
            with pytest.raises(NotImplementedError, match="no rule for a DTensor"):
                refused()
        for refused in (
            lambda: x + other, lambda: x + taeda.ones(4, 2), lambda: x.copy_(taeda.ones(4, 2)),
            lambda: taeda.ones(4, 2).add_(x),
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match=r"lie differently|plain Tensor"):
                refused()
        assert (x + taeda.tensor(2.0)).full_tensor().tolist() == [[3, 3]] * 4

    on_threads(2, work)
