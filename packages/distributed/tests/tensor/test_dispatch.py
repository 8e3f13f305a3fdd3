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
    _settings,
    distribute_tensor,
)
from taeda.distributed.tensor.experimental import register_sharding


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


MAPPED = {
    "sum": lambda x, w: taeda.vmap(lambda a: a.sum())(x),
    "product": lambda x, w: taeda.vmap(lambda a: a @ w)(x),
    "other dimension": lambda x, w: taeda.vmap(lambda a: a.softmax(0), in_dims=1, out_dims=1)(x),
    "closure": lambda x, w: taeda.vmap(lambda a: a + x[0])(x),
    "twice": lambda x, w: taeda.vmap(taeda.vmap(lambda a: a.sin() * 2))(x),
    "view": lambda x, w: taeda.vmap(lambda a: a.view(2, 3).t().reshape(6))(x),
    "written": lambda x, w: taeda.vmap(lambda a: a.clone().mul_(2))(x),
    "grad": lambda x, w: taeda.vmap(taeda.func.grad(lambda a: (a.sin() ** 2).sum()))(x),
    "max": lambda x, w: taeda.vmap(lambda a: a.max(0))(x)[1],
    "chunks": lambda x, w: taeda.vmap(lambda a: a * 2, chunk_size=3)(x),
}


@pytest.mark.parametrize("name", MAPPED)
def test_maps_over_samples_give_one_devices_numbers(name):
    maker = taeda.Generator().manual_seed(0)
    x, w = (taeda.randn(size, generator=maker) for size in ((4, 6), (6, 5)))
    wanted = MAPPED[name](x, w)

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        for place in (Shard(0), Shard(1), Replicate()):
            parts = distribute_tensor(x, mesh, [place]), distribute_tensor(w, mesh, [Shard(1)])
            assert taeda.allclose(MAPPED[name](*parts).full_tensor(), wanted, atol=1e-6)

    on_threads(3, work)


# ---- calls that the core computes by a plan ----


@pytest.fixture
def seen(monkeypatch):
    """The rows that came to Python, in their order."""
    rows = []
    original = _dispatch._planned

    def noting(func, row, *rest):
        rows.append(row)
        return original(func, row, *rest)

    monkeypatch.setattr(_dispatch, "_planned", noting)
    return rows


@pytest.fixture
def mesh():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_only_the_first_of_equal_calls_comes_to_python(mesh, seen):
    for number in range(3):
        x = distribute_tensor(taeda.full((2, 3), float(number)), mesh, [Shard(0)])
        made = (x + 1).mul_(2)
        parts, powers = taeda.frexp(made.t())
        assert made.tolist() == [[2.0 * number + 2] * 3] * 2
        assert parts.placements == powers.placements == (Shard(1),) and parts.shape == (3, 2)
        assert made.copy_(x) is made and made.tolist() == x.tolist()
    assert seen == ["add.Tensor", "mul.Tensor", "t", "frexp", "copy"]


def test_numbers_dtypes_strides_and_places_have_calls_of_their_own(mesh, seen):
    x = distribute_tensor(taeda.arange(6.0).view(2, 3), mesh, [Shard(0)])
    for other in (1, 1.0, 2.0, -0.0, 0.0, True, taeda.tensor(1), taeda.tensor(1.0)):
        assert taeda.equal((x * other).full_tensor(), taeda.arange(6.0).view(2, 3) * other)
    assert len(seen) == 8
    seen.clear()
    for way in (x, x.double(), x.t(), x.redistribute(placements=[Replicate()])):
        assert taeda.equal(way.neg().full_tensor(), -way.full_tensor())
    assert seen.count("neg") == 4


def test_who_listens_sees_planned_calls_too(mesh):
    x = distribute_tensor(taeda.ones(2), mesh, [Shard(0)])
    heard = []
    for _ in range(2):
        x.neg()
    with _settings.listening(heard.append):
        x.neg()
    x.neg()
    assert heard == ["aten.neg.default"]


def test_a_rule_that_comes_later_is_asked(mesh, monkeypatch):
    monkeypatch.setattr(_settings, "REGISTERED", {})
    x = distribute_tensor(taeda.ones(2), mesh, [Shard(0)])
    assert [x.neg().placements for _ in range(2)] == [(Shard(0),)] * 2
    register_sharding(taeda.ops.aten.neg.default)(lambda x: [([Replicate()], [Replicate()])])
    assert [x.neg().placements for _ in range(2)] == [(Replicate(),)] * 2


def test_copies_of_views_are_asked_for_each_time():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        x = distribute_tensor(taeda.zeros(4, 6), mesh, [Shard(0)])
        for _ in range(3):
            copy = x[1]
            with pytest.raises(RuntimeError, match="is a copy"):
                copy.zero_()
            x.add_(1)
            with pytest.raises(RuntimeError, match="was written since"):
                copy.sum()

    on_threads(2, work)
