"""The node between shards and units: what it hands on, and when it waits. No device is needed."""

from __future__ import annotations

import pytest

import taeda
import taeda.distributed as dist
from taeda.distributed.fsdp._join import Join, joined, note_writes
from taeda.distributed.tensor import Replicate, distribute_tensor


class Lanes:
    """Tells what is asked of it."""

    def __init__(self):
        self.told = []

    def mark(self):
        return len(self.told)

    def settle(self):
        self.told.append("waits")


class Unit:
    """What a join sees of one."""

    ready = aliases = None

    def __init__(self, *shards):
        self.shards = shards

    def adopt(self):
        """Nothing was replaced."""

    def stamp(self):
        return tuple(shard._version for shard in self.shards)


@pytest.fixture
def units():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
    mesh = dist.init_device_mesh("cpu", (1,))
    made = [distribute_tensor(taeda.ones(2) * k, mesh, [Replicate()]) for k in (1, 2, 3)]
    yield Unit(made[0].requires_grad_(), made[1]), Unit(made[2].requires_grad_())
    dist.destroy_process_group()


def test_gradients_come_behind_one_wait(units):
    lanes, (first, second) = Lanes(), units
    with joined(units, lanes):
        told = [alias.requires_grad for unit in units for alias in unit.aliases]
        loss = sum((alias * 2).sum() for unit in units for alias in unit.aliases).full_tensor()
    assert told == [True, False, True]
    assert first.aliases is None and second.aliases is None
    order = []
    first.shards[0].register_hook(lambda g: order.append((list(lanes.told), g.tolist())))
    loss.backward()
    assert order == [(["waits"], [2.0, 2.0])] and lanes.told == ["waits"]
    assert second.shards[0].grad.tolist() == [2.0, 2.0] and first.shards[1].grad is None


def test_without_gradients_there_is_no_node(units):
    with taeda.no_grad(), joined(units, Lanes()):
        assert units[0].aliases is None


def test_writes_are_noted_as_they_are_now(units):
    note_writes(units, Lanes())
    before = units[0].ready
    with taeda.no_grad():
        units[0].shards[0].add_(1)
    assert before == (before[0], 0) and before[0] != units[0].stamp()


def test_an_error_inside_leaves_no_alias(units):
    with pytest.raises(ZeroDivisionError), joined(units, Lanes()):
        _ = 1 / 0
    assert units[0].aliases is None


def test_only_the_first_gradients_of_a_unit_are_waited_for_there(units):
    join = Join(Lanes())
    assert [join.takes(unit) for unit in (*units, *units)] == [True, True, False, False]
    join.settle()
    assert join.lanes.told == ["waits"] and join.takes(units[0])
