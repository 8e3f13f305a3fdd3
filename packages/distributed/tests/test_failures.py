"""A rank that is killed, stopped, raises, comes late or calls something else: every survivor says
who, what and where.
"""

from __future__ import annotations

import signal

import pytest
from ranks import all_well, finish, run_ranks, started

LIMIT = 1  # seconds: the group's timeout
GRACE = 40  # seconds: no figure, but the difference from a hang on a machine with other work

VICTIM = """
import time, signal
dist.init_process_group("gloo", timeout=seconds({limit}))
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
model = DistributedDataParallel(nn.Linear(100, 100))
victim = size - 1
def harm():
    how = {how!r}
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "stop": os.kill(os.getpid(), signal.SIGSTOP)
    if how == "raise": raise ZeroDivisionError("the cause")
    if how == "exit": sys.exit(0)
    if how == "sleep": time.sleep(60)
def step():
    model(taeda.ones(4, 100)).sum().backward()
calls = {{
    "all_reduce": lambda: dist.all_reduce(taeda.ones(7)),
    "large": lambda: dist.all_reduce(taeda.ones(1 << 20)),
    "async": lambda: dist.all_reduce(taeda.ones(7), async_op=True).wait(),
    "broadcast": lambda: dist.broadcast(taeda.ones(3), 0),
    "all_gather": lambda: dist.all_gather([taeda.ones(2) for _ in range(size)], taeda.ones(2)),
    "barrier": lambda: dist.barrier(),
    "recv": lambda: dist.recv(taeda.ones(3), victim),
    "step": step,
}}
call = calls[{what!r}]
if {what!r} != "recv":
    call()
    call()
if rank == victim:
    harm()
start = time.monotonic()
try:
    call()
except dist.DistBackendError as error:
    print(
        type(error).__name__,
        error.ranks if hasattr(error, "ranks") else None,
        round(time.monotonic() - start, 2),
    )
    print(error)
    sys.exit(3)
"""


def faults(what: str, how: str, size: int) -> list[str]:
    """What the survivors printed. Every one of them ended in time, and by itself."""
    code = VICTIM.format(limit=LIMIT, how=how, what=what)
    with started(code, size) as processes:
        survivors = finish(processes[:-1], 30 + LIMIT + GRACE)
        for rank, ended in enumerate(survivors):
            assert ended.code == 3, f"rank {rank} ended with {ended.code}\n{ended.out}{ended.err}"
            waited = float(ended.out.splitlines()[0].split()[-1])
            assert waited < LIMIT + GRACE, ended.out
        if how == "stop":
            processes[-1].send_signal(signal.SIGCONT)
    return [ended.out for ended in survivors]


COLLECTIVES = {"all_reduce": "(7,)", "large": "(1048576,)", "async": "(7,)", "broadcast": "(3,)",
               "all_gather": "(2,)", "barrier": "barrier()", "step": "all_reduce"}  # fmt: skip


@pytest.mark.parametrize("what", COLLECTIVES)
def test_a_killed_rank_is_named(mpi, what):
    for text in faults(what, "kill", 2):
        head, *rest = text.splitlines()
        assert head.startswith(("DistPeerDiedError [1]", "DistBackendError")), text
        body = "\n".join(rest)
        assert "rank 1" in body and "has ended" in body and COLLECTIVES[what] in body, text
        assert "program.py:" in body and "collective" in body, text


@pytest.mark.parametrize("what", ["all_reduce", "step"])
def test_a_stopped_rank_is_named_at_the_timeout(mpi, what):
    for text in faults(what, "stop", 2):
        assert (
            "DistTimeoutError [1]" in text and "stopped" in text and "timed out after 1 s" in text
        ), text


def test_a_slow_rank_is_named_at_the_timeout(mpi):
    for text in faults("all_reduce", "sleep", 2):
        assert "DistTimeoutError [1]" in text and "running" in text, text


@pytest.mark.parametrize("how", ["raise", "exit"])
def test_a_rank_that_leaves_is_named(mpi, how):
    for text in faults("all_reduce", how, 2):
        assert "rank 1" in text, text
        assert ("ZeroDivisionError: the cause" in text) == (how == "raise"), text


def test_all_survivors_of_four_name_the_one(mpi):
    for text in faults("all_reduce", "kill", 4):
        assert "rank 3" in text, text


def test_a_receiver_names_a_killed_sender(mpi):
    for text in faults("recv", "kill", 2):
        assert "DistPeerDiedError [1]" in text and "recv(float32 (3,), rank 1" in text, text


MISMATCH = """
dist.init_process_group("gloo", timeout=seconds(20))
odd = rank == size - 1
pairs = [
    ("shape", lambda: dist.all_reduce(taeda.ones(5 if odd else 4))),
    ("dtype", lambda: dist.all_reduce(taeda.ones(4, dtype=taeda.float64 if odd else taeda.float32))),
    ("reduction", lambda: dist.all_reduce(taeda.ones(4), dist.ReduceOp.MAX if odd else dist.ReduceOp.SUM)),
    ("root", lambda: dist.broadcast(taeda.ones(4), 1 if odd else 0)),
    ("order", lambda: dist.barrier() if odd else dist.all_reduce(taeda.ones(4))),
    (
        "splits",
        lambda: dist.all_to_all_single(
            taeda.ones(size),
            taeda.ones(size + 1 if odd else size),
            [1] * size,
            [1] * (size - 1) + [2] if odd else None,
        ),
    ),
    ("large", lambda: dist.all_reduce(taeda.ones(1 << 20, dtype=taeda.int32 if odd else taeda.float32))),
    ("asynchronous", lambda: dist.all_reduce(taeda.ones(5 if odd else 4), async_op=True).wait()),
]
for name, call in pairs:
    try:
        call()
    except dist.DistMismatchError as error:
        text = str(error)
        assert "program.py:" in text and "collective" in text, text
        if name != "splits":
            assert error.ranks == [size - 1] or size == 2, (name, error.ranks)
            assert f"rank {size - 1}:" in text, text
    else:
        if name != "splits" or odd:
            raise AssertionError(name)
    x = taeda.ones(3)
    dist.all_reduce(x)  # the group is as usable as before
    assert x[0].item() == size
if rank == 0:
    dist.send(taeda.ones(3), 1)
    dist.send(taeda.ones(2), 1)
if rank == 1:
    try:
        dist.recv(taeda.zeros(4), 0)
    except dist.DistMismatchError as error:
        assert "sent 3 values" in str(error) and "4 of" in str(error)
    else:
        raise AssertionError
    x = taeda.zeros(2)
    dist.recv(x, 0)
    assert x.tolist() == [1, 1]
dist.barrier()
"""


@pytest.mark.parametrize("size", [2, 3])
def test_ranks_that_call_different_things_are_told(mpi, size):
    all_well(run_ranks(MISMATCH, size))


LATE = """
import time
dist.init_process_group("gloo", timeout=seconds(20))
if rank == 1:
    time.sleep(1.5)
x = taeda.ones(1)
work = dist.all_reduce(x, async_op=True)
if rank == 0:
    try:
        work.wait(seconds(0.2))
    except dist.DistTimeoutError:
        pass
    else:
        raise AssertionError
work.wait()
assert x.item() == 2
if rank == 0:
    try:
        dist.monitored_barrier(timeout=seconds(0.3))
    except dist.DistTimeoutError as error:
        assert error.ranks == [1], error
    else:
        raise AssertionError
else:
    time.sleep(1)
    try:
        dist.monitored_barrier(timeout=seconds(5))
    except dist.DistTimeoutError as error:
        assert error.ranks == [1]
    else:
        raise AssertionError
dist.barrier()
try:
    dist.barrier(timeout=seconds(0.2)) if rank == 0 else time.sleep(1)
except dist.DistTimeoutError:
    pass
try:
    dist.barrier()
except dist.DistBackendError as error:
    assert "gave up" in str(error) or "broken since" in str(error), error
else:
    raise AssertionError("a broken group was used")
"""


def test_a_wait_that_is_too_short_ends_nothing(mpi):
    all_well(run_ranks(LATE, 2))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("dist.all_reduce([1])", "TypeError"),
        ("dist.all_reduce(taeda.ones(2), op=7)", "TypeError"),
        ("dist.all_reduce(taeda.ones(2, dtype=taeda.complex64), dist.ReduceOp.MAX)", "ValueError"),
        ("dist.all_reduce(taeda.ones(2), dist.ReduceOp.BAND)", "ValueError"),
        ("dist.all_reduce(taeda.ones(2, device='meta'))", "ValueError"),
        ("dist.all_reduce(taeda.ones(1).expand(4))", "ValueError"),
        ("dist.broadcast(taeda.ones(2))", "ValueError"),
        ("dist.broadcast(taeda.ones(2), 9)", "ValueError"),
        ("dist.broadcast(taeda.ones(2), 0, group_src=0)", "ValueError"),
        ("dist.all_gather([taeda.ones(2)] * 3, taeda.ones(2))", "ValueError"),
        ("dist.all_gather([taeda.ones(2)] * 4, taeda.ones(2))", "ValueError"),
        ("dist.all_gather([taeda.ones(2) for _ in range(4)], taeda.ones(3))", "ValueError"),
        (
            "dist.all_gather([taeda.ones(2).double() for _ in range(4)], taeda.ones(2))",
            "ValueError",
        ),
        ("dist.all_gather_into_tensor(taeda.ones(9), taeda.ones(2))", "ValueError"),
        ("dist.gather(taeda.ones(2), None, 1)", "ValueError"),
        ("dist.gather(taeda.ones(2), [taeda.ones(2)] * 4, 0)", "ValueError"),
        ("dist.scatter(taeda.ones(2), [taeda.ones(3)] * 4, 1)", "ValueError"),
        ("dist.reduce_scatter(taeda.ones(2), [taeda.ones(2)] * 3)", "ValueError"),
        ("dist.reduce_scatter_tensor(taeda.ones(2), taeda.ones(9))", "ValueError"),
        ("dist.all_to_all_single(taeda.ones(3), taeda.ones(3))", "ValueError"),
        ("dist.all_to_all_single(taeda.ones(4), taeda.ones(4), [1, 1, 1, 2])", "ValueError"),
        ("dist.send(taeda.ones(2), 1)", "ValueError"),
        ("dist.send(taeda.ones(2), 2, tag=-1)", "ValueError"),
        ("dist.batch_isend_irecv([])", "ValueError"),
        ("dist.P2POp(print, taeda.ones(2), 0)", "ValueError"),
        ("dist.barrier(timeout=timedelta(0))", "ValueError"),
        ("dist.barrier(device_ids=3)", "TypeError"),
        ("dist.all_reduce(taeda.ones(1), group='world')", "TypeError"),
        ("dist.all_gather_object([None], 3)", "ValueError"),
        ("pickle.dumps(dist.group.WORLD)", "TypeError"),
    ],
)
def test_bad_input(code, error):
    import builtins
    import pickle
    from datetime import timedelta

    import taeda
    import taeda.distributed as dist

    dist.init_process_group("fake", store=dist.HashStore(), rank=1, world_size=4)
    try:
        with pytest.raises(getattr(builtins, error)):
            eval(code, {"dist": dist, "taeda": taeda, "timedelta": timedelta, "pickle": pickle})
    finally:
        dist.destroy_process_group()


STARTING = """
import time
from taeda.distributed._mpi import world as mpi_world
if rank == 1:
    def harm(*_):
        os._exit(7) if {how!r} == "exit" else os.kill(os.getpid(), 19)
    mpi_world._initialize = harm
if rank == 2:  # it waits longer than rank 0, and sees that one end
    start = mpi_world._initialize
    mpi_world._initialize = lambda *all: time.sleep(1.2) or start(*all)
try:
    dist.init_process_group("gloo", timeout=seconds({limit}))
except dist.DistBackendError as error:
    print(type(error).__name__)
    print(error)
    sys.exit(3)
"""


@pytest.mark.parametrize(("how", "kind"), [("exit", "DistPeerDied"), ("stop", "DistTimeout")])
def test_a_rank_that_fails_while_mpi_starts_is_named(mpi, how, kind):
    with started(STARTING.format(how=how, limit=20 if how == "exit" else 4), 3) as processes:
        for ended in finish([processes[0], processes[2]], 30 + GRACE):
            assert ended.code == 3, ended.err
            assert ended.out.startswith(f"{kind}Error"), ended.out
            assert how == "stop" or "rank 1" in ended.out, ended.out
