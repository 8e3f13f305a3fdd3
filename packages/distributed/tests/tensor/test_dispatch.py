"""Terms, views, out=, and what is refused."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    _dispatch,
    distribute_tensor,
)


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
