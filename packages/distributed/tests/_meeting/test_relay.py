"""The meeting of several machines, as threads: each board shows all ranks, with what they brought."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from taeda.distributed._meeting.board import Board
from taeda.distributed._meeting.relay import Relay, groups_of
from taeda.distributed._waiting import Deadline, wait_until

GROUPS = [[0, 2], [1], [3, 4]]


def test_groups_are_in_the_order_of_their_first_ranks():
    assert groups_of(["a", "b", "a", "c", "c"]) == GROUPS


@pytest.fixture
def boards():
    """A board on each machine, as every rank sees it."""
    made = {}
    for group in GROUPS:
        descriptor = Board.create(5)
        made.update({rank: Board(descriptor, 5, rank) for rank in group})
        os.close(descriptor)
    yield made
    for board in made.values():
        board.close()


def test_all_meet_and_read_what_all_wrote(boards, meshed):
    wires = meshed(5)

    def act(rank: int) -> list:
        board = boards[rank]
        leads = rank in [group[0] for group in GROUPS]
        relay = Relay(wires[rank], board, GROUPS) if leads else None
        told = []
        for seq in range(1, 40):
            brought = 40 if seq % 3 == 0 else 0
            start = board._place(rank, seq)
            board._bytes[start : start + brought] = bytes([rank + seq]) * brought
            board.come(seq, f"sum {seq}", f"of {rank}")
            if relay is not None:
                assert relay.meet(seq, brought, Deadline(30), lambda: None, False)
            assert wait_until(partial(board.all_came, seq), Deadline(30), lambda: None)
            assert not board.differing(seq)
            values = [board.brought(other, seq, brought) for other in range(5)]
            assert values == [bytes([other + seq]) * brought for other in range(5)]
            told.append([board.texts(other, seq)[1] for other in range(5)])
        return told

    with ThreadPoolExecutor(5) as pool:
        for one in [pool.submit(act, rank) for rank in range(5)]:
            assert one.result(60) == [[f"of {rank}" for rank in range(5)]] * 39


def test_a_machine_that_does_not_come_is_absent(boards, meshed):
    wires = meshed(5)
    relay = Relay(wires[0], boards[0], GROUPS)
    boards[0].come(1, "sum", "")
    boards[2].come(1, "sum", "")
    Relay(wires[1], boards[1], GROUPS)
    boards[1].come(1, "sum", "")
    assert not relay.meet(1, 0, Deadline(0.1), lambda: None, True)
    assert boards[2].absent(1) == [1, 3, 4]


def test_a_rank_of_this_machine_that_does_not_come_holds_up_the_machine(boards, meshed):
    wires = meshed(5)
    boards[3].come(1, "sum", "")
    assert not Relay(wires[3], boards[3], GROUPS).meet(1, 0, Deadline(0.1), lambda: None, True)
    assert wires[0].move() is False, "it has not told of itself"
