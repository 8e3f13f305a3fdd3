"""Groups on NCCL, on stand-ins for the driver and for NCCL's library: processes, arguments, order, faults.

No GPU is needed, and none has run this backend. The stand-in keeps device memory closed to the host
and checks each call's arguments; what it cannot show is the speed, and how the real library behaves
when a peer ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ranks import all_well, finish, started

sys.path.insert(0, str(Path(__file__).parents[1] / "nccl"))
from nccl_standin import run, settings  # found through the line above

if sys.platform != "linux":
    pytest.skip("the stand-ins are built with the compiler of Linux", allow_module_level=True)

BEGIN = """
taeda.cuda.set_device(0)
dist.init_process_group("nccl", timeout=seconds(60))
def here(*values, dtype=taeda.float32): return taeda.tensor(values, dtype=dtype, device="cuda")
def full(n, value): return taeda.full((n,), float(value)).cuda()  # a copy needs no kernel
def same(made, wanted):
    assert made.is_cuda and made.cpu().tolist() == wanted, (made.cpu().tolist(), wanted)
"""

COLLECTIVES = """
ranks = list(range(size))
for dtype in (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.int64, taeda.uint8):
    x = here(rank + 1, 2, dtype=dtype)
    dist.all_reduce(x)
    same(x, [sum(ranks) + size, 2 * size])
for op, wanted in ((dist.ReduceOp.MAX, size), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.AVG, (size + 1) / 2)):
    x = here(rank + 1)
    dist.all_reduce(x, op)
    same(x, [wanted])
x = here(1)
dist.all_reduce(x, dist.ReduceOp.premul_sum(2.0))
same(x, [2 * size])
x = here(rank == 0, False, dtype=taeda.bool)
dist.all_reduce(x)
same(x, [True, False])
x = here(1 + rank * 1j, dtype=taeda.complex64)
dist.all_reduce(x)
same(x, [size + sum(ranks) * 1j])
x = here(*range(6)).view(2, 3).t()  # not contiguous
dist.all_reduce(x)
same(x, [[0, 3 * size], [size, 4 * size], [2 * size, 5 * size]])
a, b = here(1), here(2, 3)
dist.all_reduce_coalesced([a, b])
same(a, [size]), same(b, [2 * size, 3 * size])
x = here(rank + 1)
dist.reduce(x, 1)
same(x, [sum(ranks) + size if rank == 1 else rank + 1])
x = here(rank, rank, dtype=taeda.int16)  # moved, not reduced: any dtype
dist.broadcast(x, 1)
same(x, [1, 1])
parts = [full(r + 1, 0) for r in ranks]  # uneven
dist.all_gather(parts, full(rank + 1, rank))
for r, part in enumerate(parts): same(part, [r] * (r + 1))
flat = full(size * 2, 0)
dist.all_gather_into_tensor(flat, here(rank, -rank))
same(flat, [v for r in ranks for v in (r, -r)])
parts = [full(1, 0) for r in ranks] if rank == 1 else None
dist.gather(here(rank), parts, 1)
for r, part in enumerate(parts or []): same(part, [r])
got = full(1, 0)
dist.scatter(got, [here(10 + r) for r in ranks] if rank == 0 else None, 0)
same(got, [10 + rank])
got = full(2, 0)
dist.reduce_scatter_tensor(got, here(*range(2 * size)))
same(got, [2 * rank * size, (2 * rank + 1) * size])
dist.reduce_scatter(got, [here(r, 1) for r in ranks])
same(got, [rank * size, size])
got = full(size, 0)
dist.all_to_all_single(got, here(*[10 * rank + r for r in ranks]))
same(got, [10 * r + rank for r in ranks])
parts = [full(rank + 1, 0) for r in ranks]
dist.all_to_all(parts, [full(r + 1, rank) for r in ranks])
for r, part in enumerate(parts): same(part, [r] * (rank + 1))
work = dist.all_reduce(x := here(1), async_op=True)
assert work.wait() and work.result()[0] is x
same(x, [size])
assert work.is_completed() and work.is_success()
dist.barrier()
dist.monitored_barrier()
"""

MESSAGES = """
peer, x = 1 - rank, here(rank, 7)
if rank == 0:
    dist.send(x, 1)
    dist.recv(x, 1)
else:
    y = here(0, 0)
    assert dist.recv(y, 0) == 0
    same(y, [0, 7])
    dist.send(here(5, 6), 0)
same(x, [5, 6] if rank == 0 else [1, 7])
y, own = here(0), here(0)
works = dist.batch_isend_irecv([
    dist.P2POp(dist.isend, here(rank + 3), peer), dist.P2POp(dist.irecv, y, peer),
    dist.P2POp(dist.isend, here(rank + 9), rank), dist.P2POp(dist.irecv, own, rank),
])
for work in works: work.wait()
same(y, [peer + 3]), same(own, [rank + 9])
for words, call in (
    ("no tags", lambda: dist.isend(x, peer, tag=3)), ("not from any", lambda: dist.recv(x)),
    ("batch_isend_irecv only", lambda: dist.isend(x, rank)),
):
    try: call()
    except ValueError as error: assert words in str(error), error
    else: raise AssertionError(words)
"""

OBJECTS = """
told = [None] * size
dist.all_gather_object(told, {"r": rank})
assert told == [{"r": r} for r in range(size)]
dist.gather_object(rank, told if rank == 0 else None)
assert rank or told == list(range(size))
some = ["a", [1]] if rank == 0 else [None, None]
dist.broadcast_object_list(some, 0)
assert some == ["a", [1]]
mine = [None]
dist.scatter_object_list(mine, list("xyz")[:size] if rank == 0 else None, 0)
assert mine == ["xyz"[rank]]
if rank == 0: dist.send_object_list(["hello"], 1)
if rank == 1: dist.recv_object_list(mine, 0); assert mine == ["hello"]
"""

GROUPS = """
pair = dist.new_group([0, 2])
x = here(rank)
dist.all_reduce(x, group=pair)
same(x, [2 if rank != 1 else 1])
assert dist.get_backend() == "nccl" and dist.get_backend_config() == "cuda:nccl"
dist.destroy_process_group()
"""


@pytest.mark.parametrize("size", [2, 3])
def test_every_collective(size):
    all_well(run(BEGIN + COLLECTIVES, size))


def test_work_that_waits_on_the_stream():
    """The stand-in runs work when somebody waits: a result that is read too early would be wrong."""
    program = BEGIN + COLLECTIVES.replace("dist.barrier()\n", "")  # which asks and does not wait
    all_well(run(program, 2, TAEDA_NULL_LATE="1"))


def test_messages():
    all_well(run(BEGIN + MESSAGES))


def test_objects():
    all_well(run(BEGIN + OBJECTS))


def test_subgroups():
    all_well(run(BEGIN + GROUPS, 3))


def test_arguments_and_their_order(tmp_path):
    """What NCCL is asked for: one communicator, elements and not bytes, the current stream, the end."""
    log = tmp_path / "calls"
    code = (
        BEGIN
        + """
    with taeda.cuda.stream(taeda.cuda.Stream()):
        dist.all_reduce(here(1, 2, 3), dist.ReduceOp.MAX)
    dist.broadcast(here(1, 2, dtype=taeda.float64), 1)
    dist.destroy_process_group()
    """.replace("\n    ", "\n")
    )
    all_well(run(code, 2, TAEDA_NULL_NCCL_LOG=f"{log}"))
    lines = log.read_text().splitlines()
    names = [line.split()[0] for line in lines]
    assert names.count("GetUniqueId") == 1 and names[0] == "GetUniqueId"
    assert [line for line in lines if line.startswith("AllReduce")] == [
        "AllReduce count=3 type=7 op=2 root=-1 stream=1"
    ] * 2
    assert [line for line in lines if line.startswith("Broadcast")] == [
        "Broadcast count=16 type=1 op=-1 root=1 stream=0"
    ] * 2
    assert names.count("CommInitRank") == names.count("CommDestroy") == 2


REFUSED = """
def refuses(kind, words, call):
    try: call()
    except kind as error: assert all(word in str(error) for word in words), error
    else: raise AssertionError(words)
refuses(ValueError, ["all_reduce", "on cpu", "'nccl'", "cuda only"], lambda: dist.all_reduce(taeda.ones(2)))
refuses(ValueError, ["no SUM of taeda.int16"], lambda: dist.all_reduce(here(1, dtype=taeda.int16)))
refuses(ValueError, ["BOR"], lambda: dist.all_reduce(here(1, dtype=taeda.int32), dist.ReduceOp.BOR))
refuses(dist.DistMismatchError, ["float32 (2,)", "float32 (3,)", "program.py:"],
        lambda: dist.all_reduce(taeda.ones(2 + rank, device="cuda")))
dist.all_reduce(here(1))  # nothing of that broke the group
refuses(ValueError, ["cuda:0", "cuda:1"], lambda: dist.all_gather_into_tensor(
    taeda.zeros(size, device="cuda:0"), taeda.zeros(1, device="cuda:1")))
refuses(dist.DistBackendError, ["cuda:0 since its first call", "cuda:1"],
        lambda: dist.all_reduce(taeda.ones(1, device="cuda:1")))
"""


BOTH = """
from taeda.nn.parallel import DistributedDataParallel
taeda.cuda.set_device(0)
dist.init_process_group("cpu:gloo,cuda:nccl", timeout=seconds(60))
def here(*values): return taeda.tensor(values, dtype=taeda.float32, device="cuda")
def same(made, wanted): assert made.cpu().tolist() == wanted, (made.cpu().tolist(), wanted)
host, device = taeda.tensor([rank + 1.0]), here(rank + 1)
works = [lambda: dist.all_reduce(host, async_op=True), lambda: dist.all_reduce(device, async_op=True)]
for work in [begin() for begin in (works if rank else works[::-1])]: work.wait()  # any order
same(host, [3]), same(device, [3])
told = [None] * size
dist.all_gather_object(told, rank)
assert told == [0, 1]
works = dist.batch_isend_irecv([
    dist.P2POp(dist.isend, device, 1 - rank), dist.P2POp(dist.irecv, got := here(0), 1 - rank)])
for work in works: work.wait()
same(got, [3])
if rank: dist.send(host, 0)
else: dist.recv(host, 1)
for place in ("cpu", "cuda"):
    layer = DistributedDataParallel(taeda.nn.Linear(1, 1, bias=False).to(place))
    x = taeda.tensor([[rank + 1.0]]).to(place)
    layer(x).backward(taeda.tensor([[1.0]]).to(place))
    same(layer.module.weight.grad, [[1.5]])
try: dist.all_gather_into_tensor(taeda.zeros(2), here(1))
except ValueError as error: assert "on cpu" in str(error) and "on cuda:0" in str(error), error
else: raise AssertionError("mixed devices")
small = dist.new_group([0, 1])
dist.all_reduce(device, group=small)
same(device, [6])
dist.barrier()
"""


def test_both_backends_in_one_group(mpi):
    all_well(run(BOTH))


def test_a_rank_that_ends_breaks_both_backends(mpi):
    code = """
import signal, time
taeda.cuda.set_device(0)
dist.init_process_group(timeout=seconds(60))  # takes both where both are there
assert dist.get_backend() == "cpu:gloo,cuda:nccl"
x, y = taeda.ones(1), taeda.ones(1).cuda()
dist.all_reduce(x), dist.all_reduce(y)
if rank == 1: os.kill(os.getpid(), signal.SIGKILL)
try: dist.all_reduce(y)
except dist.DistPeerDiedError as error: print(error.ranks)
try: dist.all_reduce(x)
except dist.DistBackendError as error: print("broken since" in str(error))
sys.stdout.flush()
os._exit(0)
"""
    with started(code, 2, **settings()) as processes:
        (ended,) = finish(processes[:1], 60)
    assert ended.out.split() == ["[1]", "True"], ended


def test_what_is_refused():
    all_well(run(BEGIN + REFUSED))


def test_an_error_of_the_library_is_told_in_its_words():
    code = (
        BEGIN
        + """
dist.all_reduce(here(1))
try: dist.all_reduce(here(1))
except dist.DistBackendError as error: print(error)
try: dist.all_reduce(here(1))
except dist.DistBackendError as error: print(error)
"""
    )
    words = "ncclAllReduce: unhandled system error: the stand-in says so"
    for ended in run(code, 2, TAEDA_NULL_NCCL_FAIL="AllReduce:2:2"):
        first, second = ended.out.splitlines()
        # of its own, or the other's
        assert first == words or ("gave up" in first and first.endswith(words)), ended
        assert "broken since an earlier error" in second and "program.py:" in second


def test_trouble_on_the_device_is_noticed_and_the_communicator_aborted(tmp_path):
    """The device works late, so that what was begun is still under way when NCCL reports an error."""
    log = tmp_path / "calls"
    code = (
        BEGIN
        + """
import time
x = here(1)
dist.all_reduce(x)
left = x.clone()  # work that stays
until = time.monotonic() + 50
dist.group.WORLD._engine._watch_over(
    dist.group.WORLD._engine.mark(), dist._waiting.Deadline(60), "all_reduce"
)
try:
    while time.monotonic() < until:
        time.sleep(0.05)
        dist.group.WORLD._engine._check()
except dist.DistBackendError as error:
    print(error)
"""
    )
    more = {"TAEDA_NULL_LATE": "1", "TAEDA_NULL_NCCL_ASYNC": "1:6", "TAEDA_NULL_NCCL_LOG": str(log)}
    for ended in run(code, 2, **more):
        assert "program.py:" in ended.out and "remote process exited" in ended.out, ended
    assert log.read_text().count("CommAbort") == 2


def test_a_killed_rank_is_named(tmp_path):
    code = (
        BEGIN
        + """
import signal
dist.all_reduce(here(1))
if rank == 1: os.kill(os.getpid(), signal.SIGKILL)
try: dist.all_reduce(here(1, 2))
except dist.DistPeerDiedError as error:
    print(error.ranks, error)
"""
    )
    with started(code, 2, **settings()) as processes:
        (ended,) = finish(processes[:1], 60)
    assert ended.out.startswith("[1] collective 2, all_reduce(SUM, float32 (2,)) at program.py:"), (
        ended
    )
