"""Sums in memory that ranks of one machine share, on threads for what is decided and on processes
for the bits.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ranks import all_well, run_ranks

import taeda
from taeda.distributed import ReduceOp
from taeda.distributed._meeting.board import Board
from taeda.distributed._meeting.mates import Mates
from taeda.distributed._sums.kernels import divide
from taeda.distributed._sums.window import BRING, HALF, Windows, can_bring
from taeda.distributed._waiting import Deadline


def mates(size: int) -> list[Windows]:
    """Threads of this process as ranks: they map the same memory as processes do."""
    descriptor = Board.create(size)
    pids = [os.getpid()] * size
    made = [
        Windows(Mates(r, pids, Board(descriptor, size, r), lambda: None, lambda d: TimeoutError()))
        for r in range(size)
    ]
    os.close(descriptor)
    return made


def on_each(windows: list[Windows], act) -> list:
    with ThreadPoolExecutor(len(windows)) as pool:
        todo = [pool.submit(act, rank, one) for rank, one in enumerate(windows)]
        return [done.result(60) for done in todo]


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.bfloat16])
def test_values_that_pass_through_are_added_in_the_order_of_ranks(size, dtype):
    count = HALF // 2 + 100  # two pieces, or one of the narrow ones
    generator = np.random.default_rng(size)
    given = [taeda.tensor(generator.standard_normal(count), dtype=dtype) for _ in range(size)]
    want = given[0].float()
    for values in given[1:]:
        want = want + values.float()
    values = [one.clone() for one in given]

    def act(rank: int, windows: Windows) -> None:
        windows.all_reduce(values[rank], ReduceOp(ReduceOp.SUM), Deadline(60), True)

    on_each(mates(size), act)
    assert all(taeda.equal(one, want.to(dtype)) for one in values)


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.bfloat16, taeda.int32])
@pytest.mark.parametrize("inside", [False, True])
def test_a_mean_has_the_bits_of_the_sum_that_is_divided(size, dtype, inside):
    count, windows = 100_000, mates(size)
    given = [(taeda.arange(count) % 1000 * (7 + rank) - 900).to(dtype) for rank in range(size)]
    values = [one.clone() for one in given]
    if inside:
        own = on_each(windows, lambda rank, w: w.allocate(values[rank].nbytes, Deadline(60)))
        values = [
            mine[: one.nbytes].view(dtype).copy_(one) for mine, one in zip(own, given, strict=True)
        ]

    def act(rank: int, w: Windows, by: int) -> None:
        w.mates.board.lie(w.place(values[rank]))
        w.mates.meet(Deadline(60), True)
        w.all_reduce(values[rank], ReduceOp(ReduceOp.SUM), Deadline(60), True, by)
        w.mates.meet(Deadline(60), True)

    on_each(windows, lambda rank, w: act(rank, w, 1))
    want = values[0].clone()
    divide(want, size)
    for one, before in zip(values, given, strict=True):
        one.copy_(before)
    on_each(windows, lambda rank, w: act(rank, w, size))
    assert all(taeda.equal(one, want) for one in values)


def test_values_in_a_window_are_added_up_there_only_if_those_of_all_ranks_are():
    """One rank's values lie elsewhere, or in another place of its window: then all pass through."""
    op, windows = ReduceOp(ReduceOp.SUM), mates(2)
    own = on_each(windows, lambda rank, w: w.allocate(4096, Deadline(60)).view(taeda.float32))
    cases = {
        "same": (own[0][:100], own[1][:100]),
        "elsewhere": (own[0][:100], taeda.empty(100)),
        "shifted": (own[0][:100], own[1][16:116]),
    }
    for name, values in cases.items():
        values[0].fill_(1), values[1].fill_(2)

        def act(rank: int, w: Windows, values=values) -> bool:
            w.mates.board.lie(w.place(values[rank]))
            w.mates.meet(Deadline(60), True)
            there = w.shared(values[rank]) is not None
            w.all_reduce(values[rank], op, Deadline(60), True)
            w.mates.meet(Deadline(60), True)
            return there

        assert on_each(windows, act) == [name == "same"] * 2
        assert all((one == 3).all() for one in values), name


def test_what_is_brought_waits_in_two_places():
    op, windows = ReduceOp(ReduceOp.SUM), mates(2)
    large = BRING // 4
    assert windows[0].bring(taeda.ones(large), 1) is None, "there is no room before the first sum"
    on_each(windows, lambda rank, w: w.all_reduce(taeda.ones(1), op, Deadline(60), True))
    for count in (3, large):
        kept = {}
        for seq in (1, 2):
            places = [w.bring(taeda.full((count,), 1.0 * seq), seq) for w in windows]
            assert all(len(parts) == 2 for parts in places)
            kept[seq] = places[1]
        for seq in (2, 1):
            into = taeda.empty(count)
            windows[1].add_brought(kept[seq], into, op)
            assert (into == 2 * seq).all()


def test_what_may_come_along():
    total = ReduceOp(ReduceOp.SUM)
    assert can_bring(taeda.ones(BRING // 4), total)
    assert not can_bring(taeda.ones(BRING // 4 + 1), total)
    assert not can_bring(taeda.ones(0), total)
    assert can_bring(taeda.ones(2, dtype=taeda.bool), total)
    assert not can_bring(taeda.ones(2), ReduceOp.premul_sum(2.0)), "multiplied after the meeting"


def test_a_bucket_on_one_rank_and_none_on_the_other(mpi):
    """Sums of every size have the same bits on all ranks, wherever the values lie."""
    code = """
    from taeda.nn.parallel._buckets import build
    dist.init_process_group("gloo", timeout=seconds(60))
    bucket = build(dist.group.WORLD, [taeda.empty(1_500_000)], [[0]])[0].buffer
    for turn in range(3):
        for count in (1, 4097, 200_000, 1_500_000):
            x = taeda.arange(count).remainder(97).float() * 0.1 + rank
            want = sum(taeda.arange(count).remainder(97).float() * 0.1 + r for r in range(size))
            for there in (rank == 0, True, False):
                values = bucket[:count].copy_(x) if there else x.clone()
                dist.all_reduce(values)
                assert taeda.equal(values, want), (turn, count, there)
    """
    all_well(run_ranks(code, 2, 120))
