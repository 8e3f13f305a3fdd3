"""Rules by calls, random programs, random numbers: what a mesh gives is what one device gives."""

from __future__ import annotations

import warnings

import pytest
from dtensor_calls import Counts, faults, rows_of
from dtensor_programs import MESHES
from dtensor_programs import faults as program_faults
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    _dispatch,
    distribute_tensor,
    rand,
    randn,
)
from taeda.distributed.tensor._rules.pointwise import find


def test_every_row_gives_the_numbers_of_the_whole():
    counts = Counts()
    assert not faults(rows_of(), 3, 0, 1, counts)
    assert len(counts.rows) > 500 and counts.claimed > 1500


def test_most_rows_have_a_rule():
    rows = [row.schema.qualified for row in rows_of()]
    without = [name for name in rows if find(name) is None]
    assert len(without) < 140, without


@pytest.mark.parametrize("mesh", MESHES)
def test_random_programs(mesh):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, refused = program_faults(range(1000, 1025), mesh)
    assert not found
    assert refused < 10


@pytest.mark.parametrize("mesh", MESHES)
def test_random_numbers_are_those_of_one_device_bit_for_bit(mesh):
    ranks = mesh[0] * mesh[1]
    draws = {
        "rand": lambda x, g: taeda.rand_like(x, generator=g),
        "randn": lambda x, g: taeda.randn_like(x, generator=g),
        "normal_": lambda x, g: x.clone().normal_(1, 2, generator=g),
        "uniform_": lambda x, g: x.clone().uniform_(-1, 1, generator=g),
        "bernoulli": lambda x, g: taeda.bernoulli(x.abs().clamp(0, 1), generator=g),
        "exponential_": lambda x, g: x.clone().exponential_(generator=g),
        "randint_like": lambda x, g: taeda.randint_like(x, 9, generator=g),
        "multinomial": lambda x, g: taeda.multinomial(x.abs() + 0.1, 3, generator=g),
    }
    whole = taeda.linspace(-2, 2, 5 * 7).view(5, 7)
    wanted = {}
    for name, draw in draws.items():
        g = taeda.Generator().manual_seed(3)
        wanted[name] = draw(whole, g), g.get_state()
    taeda.manual_seed(11)
    plain = [taeda.rand(5, 7), taeda.randn(3), nn.functional.dropout(whole, 0.4)]
    last = taeda.rand(1)
    taeda.manual_seed(11)

    def work(rank):
        grid = dist.init_device_mesh("cpu", mesh)
        for places in ([Shard(0), Shard(0)], [Shard(1), Shard(0)], [Replicate(), Shard(1)]):
            for name, draw in draws.items():
                g = taeda.Generator().manual_seed(3)
                made = draw(distribute_tensor(whole, grid, places), g)
                assert taeda.equal(made.full_tensor(), wanted[name][0]), name
                assert taeda.equal(g.get_state(), wanted[name][1])
        first = rand(5, 7, device_mesh=grid, placements=[Shard(0), Shard(1)])
        second = randn(3, device_mesh=grid, placements=[Shard(0), Shard(0)])
        x = distribute_tensor(whole, grid, [Shard(1), Shard(0)])
        third = nn.functional.dropout(x, 0.4)
        return [one.full_tensor().tolist() for one in (first, second, third)]

    for found in on_threads(ranks, work):
        assert found == [one.tolist() for one in plain]
    assert taeda.rand(1) == last


def test_terms_pass_where_an_operator_is_linear_and_nowhere_else():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        term = DTensor.from_local(taeda.tensor([1.0, -2.0 * rank]), mesh, [Partial()])
        kept = [(term * 2), term + term, -term, term.sum(), term.view(1, 2), term / 3]
        assert all(one.placements == (Partial(),) for one in kept)
        put = [(term + 1), term * term, term.relu(), term.max(), term.clamp(0), term.abs().sum()]
        assert not any(one.placements == (Partial(),) for one in (put[0], put[2]))
        numbers = [one.full_tensor().tolist() for one in (*kept, *put)]
        with pytest.raises(RuntimeError, match="in place"):
            term.add_(1)
        with pytest.raises(RuntimeError, match="in place"):
            term.clamp_(0)
        term.mul_(2)
        return numbers, term.full_tensor().tolist()

    numbers, last = on_threads(2, work)[0]
    assert numbers == [
        [4, -4], [4, -4], [-2, 2], 0, [[2, -2]], pytest.approx([2 / 3, -2 / 3]),
        [3, -1], [4, 4], [2, 0], 2, [2, 0], 4,
    ]  # fmt: skip
    assert last == [4, -4]


def test_views_share_memory_or_say_that_they_do_not():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.zeros(4, 6), mesh, [Shard(0)])
        x.t().add_(1)
        x.view(2, 2, 6)[:, 0].mul_(3)
        assert x.full_tensor()[:, 0].tolist() == [3, 1, 3, 1]
        copy = x[1]  # along the cut dimension
        with pytest.raises(RuntimeError, match="is a copy"):
            copy.zero_()
        assert copy.sum().item() == 6
        x.add_(1)
        with pytest.raises(RuntimeError, match="was written since"):
            copy.sum()
        with pytest.raises(RuntimeError, match=r"use t\(\)"):
            x.t_()
        out = distribute_tensor(taeda.zeros(4, 6), mesh, [Shard(1)])
        assert taeda.add(x, x, out=out) is out and out.placements == (Shard(1),)
        assert taeda.equal(out.full_tensor(), (x + x).full_tensor())
        with pytest.raises(RuntimeError, match="not resized"):
            taeda.add(x, x, out=distribute_tensor(taeda.zeros(2), mesh))
        with pytest.raises(RuntimeError, match="plain Tensor of shape"):
            x + taeda.ones(6)
        other = dist.init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
        with pytest.raises(RuntimeError, match="different meshes"):
            x + distribute_tensor(taeda.ones(6), other)

    on_threads(2, work)


def test_a_row_without_a_rule_is_whole_with_one_notice():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.arange(6.0), mesh, [Shard(0)])
        made = taeda.histc(x, 3, 0.0, 6.0)
        again = taeda.histc(x, 3, 0.0, 6.0)
        return made.placements, made.full_tensor().tolist(), again.full_tensor().tolist()

    _dispatch._told.discard("histc")
    with pytest.warns(UserWarning, match="histc has no rule") as told:
        results = on_threads(2, work)
    assert results == [((Replicate(),), [2, 2, 2], [2, 2, 2])] * 2
    assert len([one for one in told if "histc" in str(one.message)]) <= 2
