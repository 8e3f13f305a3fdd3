"""Groups of several machines, as network namespaces: every collective, messages, groups inside a
machine, and ranks that are killed at any moment.
"""

from __future__ import annotations

import random
import re
import time

import nodes
import pytest
from ranks import all_well, finish, started

from taeda import distributed as dist
from taeda.distributed._engines import wires
from taeda.distributed._meeting.facts import Facts

COLLECTIVES = """
import numpy as np
dist.init_process_group("gloo", timeout=seconds(120))
name = type(dist.group.WORLD._engine).__name__
assert name == os.environ["ENGINE"], name
R = dist.ReduceOp
def given(r, count, dtype):
    values = np.random.default_rng(r + count).integers(1, 50, count)
    return taeda.tensor(values).to(dtype)
for count in (0, 3, 900, 150_000):
    for dtype in (taeda.float32, taeda.int16, taeda.bfloat16, taeda.complex64):
        every = [given(r, count, dtype) for r in range(size)]
        mine, total = every[rank], sum(one.to(taeda.complex64) for one in every).to(dtype)
        x = mine.clone()
        dist.all_reduce(x)
        assert taeda.equal(x, total), (count, dtype)
        x = mine.clone()
        dist.reduce(x, size - 1)
        assert taeda.equal(x, total if rank == size - 1 else mine)
        x = mine.clone()
        dist.broadcast(x, 1)
        assert taeda.equal(x, every[1])
        parts = [taeda.empty(count, dtype=dtype) for _ in range(size)]
        dist.all_gather(parts, mine)
        assert all(taeda.equal(a, b) for a, b in zip(parts, every))
        whole = taeda.empty(size * count, dtype=dtype)
        dist.all_gather_into_tensor(whole, mine)
        assert taeda.equal(whole, taeda.cat(every))
        parts = [taeda.empty(count, dtype=dtype) for _ in range(size)] if rank == 0 else None
        dist.gather(mine, parts, 0)
        assert rank or all(taeda.equal(a, b) for a, b in zip(parts, every))
        x = taeda.empty(count, dtype=dtype)
        dist.scatter(x, every if rank == 1 else None, 1)
        assert taeda.equal(x, mine)
        x = taeda.empty(count, dtype=dtype)
        dist.reduce_scatter(x, [mine + r for r in range(size)])
        assert taeda.equal(x, sum((one + rank).to(taeda.complex64) for one in every).to(dtype))
        ins = [mine[: count // (r + 1)] for r in range(size)]
        outs = [taeda.empty(count // (rank + 1), dtype=dtype) for _ in range(size)]
        dist.all_to_all(outs, ins)
        assert all(taeda.equal(a, b[: count // (rank + 1)]) for a, b in zip(outs, every))
for dtype, op, want in (
    (taeda.bool, R.SUM, [True, False]),
    (taeda.uint8, R.BXOR, [sum(1 << r for r in range(size)), 0]),
    (taeda.float64, R.AVG, [(2 ** size - 1) / size, 0.0]),
    (taeda.int64, R.MAX, [1 << (size - 1), 0]),
):
    for count in (1, 40_000):
        x = taeda.tensor([1 << rank, 0] * count).to(dtype)
        dist.all_reduce(x, op)
        assert x.tolist() == want * count, (dtype, op, x[:2])
x = taeda.ones(3, 4).t()
dist.broadcast(x, 0)
dist.all_reduce(x)
assert (x == size).all()
told = [None] * size
dist.all_gather_object(told, {"rank": rank})
assert told == [{"rank": r} for r in range(size)]
"""
MESSAGES = """
right, left = (rank + 1) % size, (rank - 1) % size
for count in (0, 5, 3_000_000):
    mine, got = taeda.full((count,), float(rank)), taeda.empty(count)
    works = dist.batch_isend_irecv([
        dist.P2POp(dist.isend, mine, right), dist.P2POp(dist.irecv, got, left)])
    assert all(work.wait() for work in works) and (got == left).all()
first, second = taeda.empty(2), taeda.empty(3)
works = [dist.isend(taeda.zeros(2), right, tag=1), dist.isend(taeda.ones(3), right, tag=2)]
dist.recv(second, left, tag=2)
dist.recv(first, left, tag=1)
assert second.tolist() == [1] * 3 and first.tolist() == [0] * 2
assert all(work.wait() for work in works)
if rank == 0:
    assert sorted(dist.recv(taeda.empty(1)) for _ in range(size - 1)) == list(range(1, size))
else:
    dist.send(taeda.ones(1), 0)
x = taeda.empty(4)
work = dist.irecv(x, rank)
dist.isend(taeda.ones(4), rank).wait()
assert work.wait() and x.tolist() == [1] * 4
if rank == 0:
    dist.send(taeda.ones(4), 1)
elif rank == 1:
    try:
        dist.recv(taeda.empty(4, dtype=taeda.int32), 0)
    except dist.DistMismatchError as error:
        assert "4 values of" in str(error) and error.ranks == [0], error
    else:
        raise AssertionError("not refused")
dist.barrier()
"""
INSIDE = """
near = [r for r in range(size) if (r * 2 // size) == (rank * 2 // size)]
groups = [dist.new_group([r for r in range(size) if (r * 2 // size) == node]) for node in (0, 1)]
group = groups[rank * 2 // size]
if len(near) > 1:
    for count in (1, 200_000):
        x = taeda.full((count,), rank + 1.0)
        dist.all_reduce(x, group=group)
        assert (x == sum(r + 1 for r in near)).all()
        x = taeda.full((count,), float(rank))
        dist.broadcast(x, near[0], group)
        assert (x == near[0]).all()
    assert type(group._engine).__name__ == "WireEngine", "MPI is not started beside connections"
across = dist.new_group([0, size - 1])
if rank in (0, size - 1):
    x = taeda.full((100_000,), rank + 1.0)
    dist.all_reduce(x, group=across)
    assert (x == size + 1).all()
dist.destroy_process_group()
"""


def on_two_nodes(code: str, ranks: int, **env: str) -> None:
    if reason := nodes.why_not():
        pytest.skip(reason)
    with nodes.two_nodes() as two, started(code, ranks, two, **env) as processes:
        all_well(finish(processes, 240))


@pytest.mark.parametrize("ranks", [2, 3])
def test_everything_works_on_two_machines(mpi, ranks):
    on_two_nodes(COLLECTIVES + MESSAGES + INSIDE, ranks, ENGINE="WireEngine")


def test_on_demand_mpi_goes_between_machines(mpi):
    code = COLLECTIVES.replace("150_000", "40_000")
    on_two_nodes(code, 2, ENGINE="MpiEngine", TAEDA_BETWEEN_MACHINES="mpi")


def test_which_ranks_are_joined_by_connections(monkeypatch):
    one, other, third = Facts(1, "a"), Facts(2, "a"), Facts(3, "b")
    assert not wires.wanted([one, other]) and wires.wanted([one, third])
    assert wires.wanted([one, Facts(2, "a", between="wires")]), "MPI runs in none of such a job"
    assert not wires.wanted([one, Facts(3, "b", between="mpi")])
    assert wires.between() == ""
    monkeypatch.setenv("TAEDA_BETWEEN_MACHINES", "mpi")
    assert wires.between() == "mpi"
    monkeypatch.delenv("TAEDA_BETWEEN_MACHINES")
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.setenv("PMI_RANK", "0")
    monkeypatch.setenv("PMI_SIZE", "2")
    assert wires.between() == "mpi", "mpiexec started it"
    monkeypatch.setenv("TAEDA_BETWEEN_MACHINES", "sockets")
    assert wires.between() == ""
    monkeypatch.setenv("TAEDA_BETWEEN_MACHINES", "pigeons")
    with pytest.raises(dist.DistBackendError, match="pigeons"):
        wires.between()


# ---- deaths ----

WORK = """
import time
dist.init_process_group("gloo", timeout=seconds(60))
few, many, out = taeda.ones(8), taeda.ones(300_000), taeda.empty(100_000)
dist.barrier()
print("ready", flush=True)
try:
    while True:
        dist.all_reduce(few)
        dist.all_reduce(many)
        dist.reduce_scatter_tensor(out, many)
        dist.all_to_all_single(taeda.empty_like(many), many)
        dist.broadcast(many, 0)
        dist.all_gather_into_tensor(many, out)
        work = dist.isend(out, (rank + 1) % size)
        dist.recv(out, (rank - 1) % size)
        work.wait()
except dist.DistError as error:
    print(type(error).__name__, getattr(error, "ranks", None), error)
    sys.exit(3)
"""


@pytest.mark.parametrize("victim", [0, 2])
def test_a_rank_killed_at_any_moment_takes_nobody_with_it(mpi, victim):
    """MPI between machines ended or hung a survivor in one of ten. Rank 0 serves the store."""
    if reason := nodes.why_not():
        pytest.skip(reason)
    with nodes.two_nodes() as two, started(WORK, 3, two, PYTHONFAULTHANDLER="1") as processes:
        for process in processes:
            line = process.stdout.readline()
            assert line == "ready\n", line + process.communicate()[1]
        time.sleep(random.random() * 0.3)
        processes[victim].kill()
        start = time.monotonic()
        rest = [process for rank, process in enumerate(processes) if rank != victim]
        ended = finish(rest, 30)
        assert time.monotonic() - start < 15, "the error came by the deadline, not by the death"
    for one in ended:
        assert one.code == 3, one
        assert re.search(rf"\branks? ([\d, ]*, )?{victim}\b", one.out), one.out


MESSAGE_FAILS = """
import time
dist.init_process_group("gloo", timeout=seconds(60))
dist.barrier()
print("ready", flush=True)
x = taeda.ones(8)
try:
    if rank == 0:
        dist.recv(x, 2)
    elif rank == 1:
        dist.all_reduce(x)
    else:
        time.sleep(60)
except dist.DistPeerDiedError as error:
    print(sorted(error.ranks), error)
    sys.exit(3)
"""


def test_who_died_first_is_named_though_a_rank_nearby_ended_because_of_it(mpi):
    """Rank 0 learns of the death in a message and ends; rank 1 of its machine sees that end at once,
    and the end of the other machine's rank only half a second later.
    """
    if reason := nodes.why_not():
        pytest.skip(reason)
    with nodes.two_nodes() as two, started(MESSAGE_FAILS, 3, two) as processes:
        for process in processes:
            assert process.stdout.readline() == "ready\n", process.communicate()[1]
        processes[2].kill()
        sender, other = finish(processes[:2], 30)
    assert sender.code == 3 and sender.out.startswith("[2] "), sender
    assert other.code == 3 and other.out.startswith(("[0, 2] ", "[2] ")), other
    assert "rank 2" in other.out, other
