"""An optimizer whose state is shared out over ranks, on threads, against the plain one."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda.distributed.algorithms.join import Join
from taeda.distributed.optim import ZeroRedundancyOptimizer

SHAPES = [(3, 2), (5,), (1,), (2, 2)]


def parameters():
    generator = taeda.Generator().manual_seed(0)
    return [taeda.nn.Parameter(taeda.randn(shape, generator=generator)) for shape in SHAPES]


def give_gradients(params, step):
    for number, param in enumerate(params):
        param.grad = taeda.full_like(param, 0.1 * (number + 1) + step)


def plainly(steps, **options):
    params = parameters()
    optimizer = taeda.optim.Adam(params, **options)
    for step in range(steps):
        give_gradients(params, step)
        optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("views", [False, True])
def test_steps_are_those_of_the_plain_optimizer(views):
    def work(rank):
        params = parameters()
        zero = ZeroRedundancyOptimizer(
            params, taeda.optim.Adam, parameters_as_bucket_view=views, lr=0.1
        )
        for step in range(3):
            give_gradients(params, step)
            zero.step()
        count = len(zero.optim.state)
        with pytest.raises(RuntimeError, match="call consolidate_state_dict"):
            zero.state_dict()
        zero.consolidate_state_dict(to=1)
        return [p.tolist() for p in params], count, zero.state_dict() if rank == 1 else None

    wanted, plain = plainly(3, lr=0.1)
    results = on_threads(2, work)
    for values, _, _ in results:
        assert values == [p.tolist() for p in wanted]
    assert sorted(count for _, count, _ in results) == [2, 2]  # each keeps its share
    state = results[1][2]
    assert state["param_groups"] == plain.state_dict()["param_groups"]
    for number, entry in plain.state_dict()["state"].items():
        for name, value in entry.items():
            assert taeda.equal(state["state"][number][name], value), (number, name)


def test_a_plain_state_is_loaded_by_shares_and_schedules_are_heard():
    def work(rank):
        params, plain = plainly(2, lr=0.1)
        zero = ZeroRedundancyOptimizer(params, taeda.optim.Adam, lr=0.7)
        zero.load_state_dict(plain.state_dict())
        assert zero.param_groups[0]["lr"] == 0.1
        give_gradients(params, 2)
        zero.step()
        zero.param_groups[0]["lr"] = 0.0
        before = [p.tolist() for p in params]
        give_gradients(params, 3)
        assert zero.step(lambda: 5) == 5
        return before, [p.tolist() for p in params]

    wanted = [p.tolist() for p in plainly(3, lr=0.1)[0]]
    assert on_threads(2, work) == [(wanted, wanted)] * 2


def test_more_parameters_keep_the_state_of_those_before():
    def work(rank):
        params = parameters()
        zero = ZeroRedundancyOptimizer(params[:2], taeda.optim.SGD, lr=1.0, momentum=0.5)
        give_gradients(params, 0)
        zero.step()
        zero.add_param_group({"params": params[2:], "lr": 0.0})
        before = [p.tolist() for p in params[2:]]
        give_gradients(params, 0)
        zero.step()
        first = parameters()[0]
        assert taeda.allclose(params[0], first - 0.1 - 0.15)  # 0.1, then 0.1 + 0.5 * 0.1
        return before == [p.tolist() for p in params[2:]]

    assert on_threads(2, work) == [True, True]


def test_a_rank_without_inputs_still_steps():
    def work(rank):
        params = parameters()
        zero = ZeroRedundancyOptimizer(params, taeda.optim.SGD, lr=1.0)
        with Join([zero]):
            for step in range(1 + rank):
                give_gradients(params, step)
                zero.step()
        assert zero.join_device == taeda.device("cpu") and zero.join_process_group is not None
        return [p.tolist() for p in params]

    zero, one = on_threads(2, work)
    assert zero == one


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        (taeda.ones(2), TypeError, "not one tensor"),
        (3, TypeError, "iterable of tensors, not int"),
        ([1, 2], TypeError, "tensor"),
        ([], ValueError, "at least one parameter"),
        ([taeda.ones(1), taeda.ones(1).double()], ValueError, "dtype"),
    ],
)
def test_refusals(params, error, words):
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        with pytest.raises(error, match=words):
            ZeroRedundancyOptimizer(params, taeda.optim.SGD, lr=1.0)
        with pytest.raises(NotImplementedError, match="overlap_with_ddp"):
            ZeroRedundancyOptimizer(parameters(), taeda.optim.SGD, overlap_with_ddp=True)
        other = dist.GroupMember.NON_GROUP_MEMBER
        with pytest.raises(ValueError, match="not in the process_group"):
            ZeroRedundancyOptimizer(parameters(), taeda.optim.SGD, other)
    finally:
        dist.destroy_process_group()
