"""Who may call on a group, on which thread its collectives run, and what a mean is."""

from __future__ import annotations

import time

import pytest
from forks import forked

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda._core_api import runtime
from taeda.nn.parallel import DistributedDataParallel


@pytest.fixture
def group():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=4)
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_a_forked_process_is_no_member(group):
    def act() -> None:
        with pytest.raises(dist.DistBackendError, match="all_reduce: this process was forked"):
            dist.all_reduce(taeda.ones(1))

    assert forked(act) == 0
    dist.all_reduce(taeda.ones(1))


def test_a_group_that_was_destroyed_is_not_used():
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=4)
    group = dist.group.WORLD
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="barrier: the group '0' was destroyed"):
        dist.barrier(group)


def test_what_blocks_runs_on_the_callers_thread_while_nothing_is_under_way(group):
    dist.all_reduce(taeda.ones(1))
    assert group._thread is None
    dist.all_reduce(taeda.ones(1), async_op=True).wait()
    assert group._thread is not None


@pytest.mark.parametrize(("cap", "threads"), [(None, False), (1e-6, True)])
def test_the_last_bucket_is_reduced_by_who_waits_for_it(group, cap, threads):
    """The gradients' mean of 4 ranks, where the others' are as this one's but not added up."""
    model = DistributedDataParallel(nn.Linear(2, 1), bucket_cap_mb=cap)
    model(taeda.ones(1, 2)).sum().backward()
    assert (group._thread is not None) == threads
    assert model.module.weight.grad.tolist() == [[0.25, 0.25]]


def test_the_mean_of_whole_numbers_has_no_point(group):
    values = taeda.tensor([7, -7, 3])
    dist.all_reduce(values, dist.ReduceOp.AVG)
    assert values.tolist() == [1, -1, 0]


CALLS = {
    "allreduce": lambda group, x: group.allreduce([x]),
    "broadcast": lambda group, x: group.broadcast(x, root=0),
    "barrier": lambda group, x: group.barrier(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_methods_of_a_group_are_the_collectives_under_way(group, call):
    x = taeda.ones(2)
    work = call(group, x)
    assert isinstance(work, dist.Work) and work.wait()
    assert x.tolist() == [1.0, 1.0], "the fake backend leaves what the others would bring"


@pytest.mark.parametrize("collective", ["all_reduce", "all_gather_into_tensor", "broadcast"])
def test_the_thread_keeps_no_tensors_of_what_it_has_done(group, collective):
    allocated = lambda: runtime.memory_stats()["allocated"]  # noqa: E731 - short

    def begin(count: int) -> None:
        x = taeda.ones(count)
        args = {"broadcast": (x, 0), "all_gather_into_tensor": (taeda.ones(4 * count), x)}
        work = getattr(dist, collective)(*args.get(collective, (x,)), async_op=True)
        work.wait()

    begin(1)
    before = allocated()
    begin(1 << 20)
    until = time.monotonic() + 10
    # the thread goes on by itself
    while allocated() - before > 1 << 20 and time.monotonic() < until:
        time.sleep(0.01)
    assert allocated() - before < 1 << 20
