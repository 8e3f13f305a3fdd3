"""Ranks of other machines, seen through the store: without a network in between, and with one that is cut."""

from __future__ import annotations

import time

import nodes
import pytest
from ranks import all_well, finish, run_ranks, started

import taeda.distributed as dist
from taeda.distributed._meeting import far as far_module
from taeda.distributed._meeting.far import Far
from taeda.distributed._meeting.words import LastWords

ENOUGH = 60  # seconds: no figure, but the difference from never


def until(seen) -> None:
    end = time.monotonic() + ENOUGH
    while not seen():
        assert time.monotonic() < end, "not seen in time"
        time.sleep(0.01)


@pytest.fixture
def pair(monkeypatch):
    """Two members of a group, and the server that they share."""
    monkeypatch.setattr(far_module, "ASK_EVERY", 0.01)
    monkeypatch.setattr(far_module, "GRACE", 0.0)
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    store = dist.PrefixStore("group", master)
    made = [Far(store, rank, 2) for rank in range(2)]
    yield made
    for one in made:
        one.close()
    master.close()


def asks(far: Far, seen) -> None:
    def again() -> bool:
        far.poke()
        return seen()

    until(again)


def test_who_waits_in_which_collective_is_seen(pair):
    one, other = pair
    one.begin(7, "all_reduce")
    assert one.missing() == [1]
    other.begin(7, "broadcast")
    asks(other, lambda: other._published == 7)
    asks(one, lambda: one.missing() == [])
    assert one.came_last_to(1) == "collective 7, broadcast"
    assert one.failures() == {} and one.ended() == [] and one.silence() == 0


def test_last_words_are_read(pair):
    one, other = pair
    words = LastWords("ValueError", (), "ValueError: no")
    other.give_up(words)
    asks(one, lambda: one.failures() == {1: words})
    assert other.failures() == {}, "its own end is no news to a rank"


def test_the_end_of_a_process_is_carried_out_as_its_will(pair):
    one, other = pair
    other.close()
    asks(one, lambda: one.ended() == [1])


def test_a_store_that_is_gone_is_silent_and_nobody_waits_for_it(monkeypatch):
    monkeypatch.setattr(far_module, "SILENT", 0.05)
    monkeypatch.setattr(far_module, "ASK_EVERY", 0.01)
    master = dist.TCPStore("127.0.0.1", 0, is_master=True)
    far = Far(master, 0, 2)
    master.close()
    far.begin(1, "barrier")
    asks(far, lambda: far.silence() > 0)
    assert far.missing() == [1]
    far.close()


def test_a_store_without_a_server_has_no_wills():
    store = dist.HashStore()
    far = Far(dist.PrefixStore("g", store), 0, 1)
    assert far._will is None
    far.close()


CUT = """
dist.init_process_group("gloo", timeout=seconds(60))
assert not dist.group.WORLD._engine._arrivals.one_node
try:
    dist.all_reduce(taeda.ones(3 + rank // 2))
except dist.DistMismatchError as error:
    assert "(3,)" in str(error) and "(4,)" in str(error) and "program.py:" in str(error)
else:
    raise AssertionError("not refused")
group = dist.new_group(list(range(size)), timeout=seconds(2))
dist.barrier()
dist.all_reduce(taeda.ones(1), group=group)
print("ready", flush=True)
while not os.path.exists(os.environ["CUT"]):
    pass
try:
    dist.all_reduce(taeda.ones(7), group=group)
except dist.DistTimeoutError as error:
    print(error.ranks, str(error).replace(chr(10), " "))
else:
    raise AssertionError("the wire is not cut")
"""


def test_two_machines_and_then_the_wire_is_cut(mpi, tmp_path):
    if reason := nodes.why_not():
        pytest.skip(reason)
    cut = tmp_path / "cut"
    with nodes.two_nodes() as two, started(CUT, 4, two, CUT=str(cut)) as processes:
        for process in processes:
            line = process.stdout.readline()
            assert line == "ready\n", line + process.communicate()[1]
        two[1].link("down")
        cut.touch()
        ended = finish(processes, 2 + ENOUGH)
    all_well(ended)
    for rank, one in enumerate(ended):
        assert one.out.startswith("[2, 3]" if rank < 2 else "[0, 1]"), (rank, one.out)
        for word in ("collective 2", "all_reduce(SUM, float32 (7,))", "program.py:", "ranks "):
            assert word in one.out, (word, one.out)


def test_one_machine_asks_no_store(mpi):
    code = """
    dist.init_process_group("gloo")
    assert dist.group.WORLD._engine._arrivals.far is None
    """
    all_well(run_ranks(code, 2))
