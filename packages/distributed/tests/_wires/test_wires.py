"""Messages over connections, on socket pairs and threads: order, kinds, memory, and ends."""

from __future__ import annotations

import threading

import pytest

from taeda.distributed._waiting import Deadline
from taeda.distributed._wires import wires as wires_module
from taeda.distributed._wires.wires import Receipt, Wires


@pytest.fixture
def wires(meshed):
    return meshed(3)


def until(wires: Wires, *moves) -> None:
    done = wires.wait(lambda: all(move.done for move in moves), Deadline(30), lambda: None)
    assert done, "did not arrive"


def view(data: bytes) -> memoryview:
    return memoryview(bytearray(data))


def test_values_go_into_the_memory_that_waits_for_them(wires):
    room = bytearray(5)
    receipt = wires[1].receive(Receipt(0, 1, 7, memoryview(room)))
    assert wires[0].send(1, 1, 7, view(b"hello")).done
    until(wires[1], receipt)
    assert bytes(room) == b"hello" and receipt.source == 0


def test_a_message_that_nobody_asked_for_is_kept(wires):
    wires[0].send(1, 1, 1, view(b"first"))
    wires[0].send(1, 2, 1, view(b"other"), b"said")
    wires[0].send(1, 1, 2, view(b""))
    last = wires[1].receive(Receipt(0, 1, 2, view(b"")))
    until(wires[1], last)
    rooms = [bytearray(5), bytearray(5)]
    receipts = [
        wires[1].receive(Receipt(None, 2, 1, memoryview(rooms[1]), b"said")),
        wires[1].receive(Receipt(0, 1, 1, memoryview(rooms[0]))),
    ]
    until(wires[1], *receipts)
    assert [bytes(room) for room in rooms] == [b"first", b"other"]


def test_messages_of_one_kind_and_tag_come_in_order(wires):
    for number in range(20):
        wires[0].send(1, 1, 1, view(bytes([number])))
    found = []
    for _ in range(20):
        receipt = wires[1].receive(Receipt(0, 1, 1))
        until(wires[1], receipt)
        found.append(receipt.values[0])
    assert found == list(range(20))


def test_many_bytes_cross_in_both_directions_at_once(wires):
    """More than both kernels' buffers hold: who sends also receives."""
    size, rooms = 8 << 20, [bytearray(8 << 20) for _ in range(2)]
    data = [bytes([rank + 1]) * size for rank in range(2)]

    def act(rank: int) -> None:
        sending = wires[rank].send(1 - rank, 1, 1, memoryview(data[rank]))
        receipt = wires[rank].receive(Receipt(1 - rank, 1, 1, memoryview(rooms[rank])))
        until(wires[rank], sending, receipt)

    threads = [threading.Thread(target=act, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert rooms[0] == data[1] and rooms[1] == data[0]


def test_any_rank_will_do_and_is_named(wires):
    receipt = wires[1].receive(Receipt(None, 1, 1))
    wires[2].send(1, 1, 1, view(b"x"))
    until(wires[1], receipt)
    assert receipt.source == 2 and bytes(receipt.values) == b"x"


def test_a_rank_writes_to_itself(wires):
    wires[0].send(0, 1, 1, view(b"me"))
    room = bytearray(2)
    receipt = wires[0].receive(Receipt(0, 1, 1, memoryview(room)))
    assert receipt.done and receipt.source == 0 and room == b"me"


@pytest.mark.parametrize("asked_first", [True, False])
@pytest.mark.parametrize(("room", "says"), [(3, b"two"), (2, b"three")])
def test_other_values_than_were_wanted_are_dropped_and_told(wires, asked_first, room, says):
    wanted = Receipt(0, 1, 1, memoryview(bytearray(room)), says)
    if asked_first:
        wires[1].receive(wanted)
    wires[0].send(1, 1, 1, view(b"ab"), b"two")
    wires[0].send(1, 1, 2, view(b"next"))
    if not asked_first:
        until(wires[1], wires[1].receive(Receipt(0, 1, 2)))
        wires[1].receive(wanted)
    until(wires[1], wanted)
    assert wanted.other == b"two" and bytes(wanted.into) == b"\0" * room
    if asked_first:
        after = wires[1].receive(Receipt(0, 1, 2))
        until(wires[1], after)
        assert bytes(after.values) == b"next"


def test_a_peer_that_nobody_listens_to_waits(wires, monkeypatch):
    """What is kept has an end; it goes on once somebody asks."""
    monkeypatch.setattr(wires_module, "STRAYS", 100_000)
    many = [wires[0].send(1, 1, number, view(b"x" * 50_000)) for number in range(200)]
    for _ in range(300):
        wires[0].move()
        wires[1].move()
    assert not all(one.done for one in many)
    assert sum(frame.nbytes for frame in wires[1]._strays) <= 200_000
    last = wires[1].receive(Receipt(0, 1, 199))
    while not last.done:
        wires[0].move()
        wires[1].move()
    assert all(one.done for one in many)


def test_an_end_is_seen_at_once_and_what_was_sent_before_it_arrives(wires):
    wires[0].send(1, 1, 1, view(b"last"))
    assert wires[1].ended() == set()
    wires[0].close()
    assert wires[1].ended() == {0} and wires[1].over() == set()
    receipt = wires[1].receive(Receipt(0, 1, 1))
    until(wires[1], receipt)
    assert bytes(receipt.values) == b"last"
    wires[1].move()
    assert wires[1].over() == {0}
    assert not wires[1].send(0, 1, 1, view(b"x")).done


def test_who_waits_for_one_that_is_gone_looks_and_keeps_the_deadline(wires):
    wires[0].close()
    receipt, looks = wires[1].receive(Receipt(0, 1, 1)), []
    assert not wires[1].wait(lambda: receipt.done, Deadline(0.1), lambda: looks.append(1))
    assert looks
    with pytest.raises(ZeroDivisionError):
        wires[1].wait(lambda: receipt.done, Deadline(30), lambda: 1 // 0)
