"""Every collective against what NumPy says, for the dtypes it takes, on real processes."""

from __future__ import annotations

import pytest
from ranks import all_well, run_ranks

START = 'dist.init_process_group("gloo", timeout=seconds(30))\n'

REDUCTIONS = (
    START
    + """
import numpy as np
dtypes = [taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.int8, taeda.uint8, taeda.int16,
          taeda.int32, taeda.int64, taeda.complex64, taeda.complex128]
ops = {dist.ReduceOp.SUM: np.add, dist.ReduceOp.PRODUCT: np.multiply, dist.ReduceOp.MIN: np.minimum,
       dist.ReduceOp.MAX: np.maximum, dist.ReduceOp.BAND: np.bitwise_and, dist.ReduceOp.BOR: np.bitwise_or,
       dist.ReduceOp.BXOR: np.bitwise_xor}
def value(r, dtype, n):
    x = taeda.arange(n).remainder(3).add(r % 2 + 1)
    return x.to(dtype)
def plain(x):
    return x.to(taeda.float32).numpy() if x.dtype is taeda.bfloat16 else x.numpy()
for dtype in dtypes:
    for op, kernel in ops.items():
        order = op in (dist.ReduceOp.MIN, dist.ReduceOp.MAX)
        bits = op in (dist.ReduceOp.BAND, dist.ReduceOp.BOR, dist.ReduceOp.BXOR)
        if (dtype.is_complex and (order or bits)) or (dtype.is_floating_point and bits):
            try:
                dist.all_reduce(value(rank, dtype, 3), op)
            except ValueError:
                continue
            raise AssertionError((dtype, op))
        for n in (0, 5, 70000) if op == dist.ReduceOp.SUM else (5,):
            want = plain(value(0, dtype, n))
            for r in range(1, size):
                want = kernel(want, plain(value(r, dtype, n)))
            x = value(rank, dtype, n)
            dist.all_reduce(x, op)
            np.testing.assert_array_equal(plain(x), want, str((dtype, op, n)))
            x = value(rank, dtype, n)
            dist.reduce(x, size - 1, op)
            if rank == size - 1:
                np.testing.assert_array_equal(plain(x), want)
            else:
                assert taeda.equal(x, value(rank, dtype, n))
            if n:
                out = taeda.empty(1, dtype=dtype)
                flat = value(rank, dtype, size)
                whole = plain(value(0, dtype, size))
                for r in range(1, size):
                    whole = kernel(whole, plain(value(r, dtype, size)))
                dist.reduce_scatter_tensor(out, flat, op)
                np.testing.assert_array_equal(plain(out)[0], whole[rank])
                dist.reduce_scatter(out, list(flat.split(1)), op)
                np.testing.assert_array_equal(plain(out)[0], whole[rank])
x = taeda.full((3,), rank + 1.0)
dist.all_reduce(x, dist.ReduceOp.AVG)
assert x[0].item() == (size + 1) / 2
x = taeda.full((3,), rank + 1.0)
dist.all_reduce(x, dist.ReduceOp.premul_sum(0.5))
assert x[0].item() == size * (size + 1) / 4
x = taeda.tensor([rank == 0, True, False])
dist.all_reduce(x, dist.ReduceOp.SUM)
assert x.tolist() == [True, True, False]
"""
)

MOVES = (
    START
    + """
for dtype in (
    taeda.float32,
    taeda.bfloat16,
    taeda.bool,
    taeda.complex64,
    taeda.int64,
    taeda.float8_e5m2 if hasattr(taeda, "float8_e5m2") else taeda.uint8,
):
    for shape in ((3,), (2, 5), (0,), (300, 400)):
        def of(r):
            n = 1
            for s in shape: n *= s
            return taeda.arange(n).add(r).remainder(100).to(taeda.float32).to(dtype).reshape(shape)
        same = lambda a, b: taeda.equal(
            a.to(taeda.complex64 if dtype.is_complex else taeda.float32),
            b.to(taeda.complex64 if dtype.is_complex else taeda.float32),
        )
        x = of(rank)
        dist.broadcast(x, size - 1)
        assert same(x, of(size - 1))
        outs = [taeda.zeros(shape).to(dtype) for _ in range(size)]
        dist.all_gather(outs, of(rank))
        assert all(same(o, of(r)) for r, o in enumerate(outs)), (dtype, shape)
        whole = taeda.zeros((size, *shape)).to(dtype)
        dist.all_gather_into_tensor(whole, of(rank))
        assert all(same(whole[r], of(r)) for r in range(size))
        outs = [taeda.zeros(shape).to(dtype) for _ in range(size)] if rank == 0 else None
        dist.gather(of(rank), outs)
        assert outs is None or all(same(o, of(r)) for r, o in enumerate(outs))
        x = taeda.zeros(shape).to(dtype)
        dist.scatter(x, [of(7 * r) for r in range(size)] if rank == 1 else None, src=1)
        assert same(x, of(7 * rank))
        outs = [taeda.zeros(shape).to(dtype) for _ in range(size)]
        dist.all_to_all(outs, [of(10 * rank + r) for r in range(size)])
        assert all(same(o, of(10 * r + rank)) for r, o in enumerate(outs))
        if rank == 0:
            dist.send(of(5), size - 1, tag=3)
            dist.recv(x, size - 1, tag=4)
            assert same(x, of(6))
        if rank == size - 1:
            assert dist.recv(x, 0, tag=3) == 0
            assert same(x, of(5))
            dist.send(of(6), 0, tag=4)
# uneven
outs = [taeda.zeros(r + 1) for r in range(size)]
dist.all_gather(outs, taeda.full((rank + 1,), float(rank)))
assert all(o.tolist() == [r] * (r + 1) for r, o in enumerate(outs))
sent = [r + 1 for r in range(size)]
got = taeda.zeros((rank + 1) * size, 2)
dist.all_to_all_single(got, taeda.full((sum(sent), 2), float(rank)), [rank + 1] * size, sent)
assert got[:, 0].tolist() == [r for r in range(size) for _ in range(rank + 1)]
got = taeda.zeros(size)
dist.all_to_all_single(got, taeda.arange(float(size)) + 10 * rank)
assert got.tolist() == [10 * r + rank for r in range(size)]
# equal parts on the first rank, others on the last: few values come along only where all are equal
more = [1 + (rank == r == size - 1) for r in range(size)]
got = taeda.zeros(sum(more))
dist.all_to_all_single(got, taeda.full((sum(more),), float(rank)), more, more)
assert got.tolist() == [float(r) for r in range(size) for _ in range(more[r])]
# few values, again and again, from memory that is overwritten at once, with inputs in the output
for turn in range(20):
    x = taeda.full((3,), turn * 10.0 + rank)
    dist.broadcast(x, turn % size)
    assert x.tolist() == [turn * 10.0 + turn % size] * 3
    out = taeda.full((size, 2), float(turn + rank))
    dist.all_gather_into_tensor(out, out[rank])
    assert out[:, 1].tolist() == [float(turn + r) for r in range(size)]
    flat = taeda.arange(2 * size) + turn * rank
    dist.reduce_scatter_tensor(flat[:2], flat)
    assert flat[:2].tolist() == [size * (2 * rank + i) + turn * sum(range(size)) for i in range(2)]
    flat = taeda.arange(float(size)) + 100 * turn + 10 * rank
    dist.all_to_all_single(flat, flat)
    assert flat.tolist() == [100 * turn + 10.0 * r + rank for r in range(size)]
# not contiguous
x = taeda.full((4, 6), float(rank))
dist.all_reduce(x.t()[::2])
assert x[0].tolist() == [sum(range(size)), rank] * 3, x
x = taeda.zeros(6, 4)
dist.broadcast(x[:, ::2] if rank else x[:, ::2].add_(1), 0)
assert x[0].tolist() == [1, 0, 1, 0]
# coalesced, several
a, b = taeda.ones(3) * rank, taeda.ones(2, 2)
dist.all_reduce_coalesced([a, b])
assert a[0] == sum(range(size)) and b[0, 0] == size
lists = [[taeda.zeros(2), taeda.zeros(1)] for _ in range(size)]
dist.all_gather_coalesced(lists, [taeda.full((2,), float(rank)), taeda.full((1,), 2.0 * rank)])
assert [l[1].item() for l in lists] == [2.0 * r for r in range(size)]
# asynchronous: all begun, then waited for in another order
xs = [taeda.full((1000,), float(rank + i)) for i in range(20)]
works = [dist.all_reduce(x, async_op=True) for x in xs]
for work in reversed(works):
    assert work.wait() and work.is_completed() and work.is_success()
assert all(x[0].item() == sum(r + i for r in range(size)) for i, x in enumerate(xs))
x = taeda.ones(3)
assert (
    dist.all_reduce(x, async_op=True)
    .get_future()
    .then(lambda f: f.value()[0] * 2)
    .wait()[0]
    .item()
    == 2 * size
)
work = dist.barrier(async_op=True)
work.wait(seconds(10))
# messages
right, left = (rank + 1) % size, (rank - 1) % size
out, into = taeda.full((50000,), float(rank)), taeda.zeros(50000)
works = dist.batch_isend_irecv([dist.P2POp(dist.irecv, into, left), dist.P2POp(dist.isend, out, right)])
for work in works:
    work.wait()
assert into[7].item() == left
mine = taeda.zeros(3)
w1, w2 = dist.isend(taeda.ones(3), rank), dist.irecv(mine, rank)
w1.wait(), w2.wait()
assert mine.tolist() == [1, 1, 1]
if rank == 0:
    for _ in range(size - 1):
        got = taeda.zeros(1)
        assert dist.recv(got, tag=9) == int(got.item())
else:
    dist.send(taeda.tensor([float(rank)]), 0, tag=9)
dist.barrier()
"""
)

OBJECTS = (
    START
    + """
got = [None] * size
dist.all_gather_object(got, {"rank": rank, "much": "x" * rank * 1000})
assert [g["rank"] for g in got] == list(range(size))
got = [None] * size if rank == 0 else None
dist.gather_object(rank * 2, got)
assert got is None or got == [2 * r for r in range(size)]
things = ["a", {1: 2}, None] if rank == 0 else [None] * 3
dist.broadcast_object_list(things, 0)
assert things == ["a", {1: 2}, None]
out = [None]
dist.scatter_object_list(out, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
assert out == [f"for {rank}"]
if rank == 0:
    dist.send_object_list([1, "two"], 1)
if rank == 1:
    things = [None, None]
    assert dist.recv_object_list(things) == 0 and things == [1, "two"]
# groups
evens = dist.new_group(range(0, size, 2))
odds = dist.new_group(range(1, size, 2))
mine, other = (evens, odds) if rank % 2 == 0 else (odds, evens)
assert other is dist.GroupMember.NON_GROUP_MEMBER
x = taeda.ones(1)
assert dist.all_reduce(x, group=other) is None and x.item() == 1
dist.all_reduce(x, group=mine)
assert x.item() == dist.get_world_size(mine) == len(range(rank % 2, size, 2))
last = dist.get_process_group_ranks(mine)[-1]
x = taeda.tensor([rank])
dist.broadcast(x, last, group=mine)
assert x.item() == last
x = taeda.tensor([rank])
dist.broadcast(x, group=mine, group_src=0)
assert x.item() == rank % 2
try:
    dist.broadcast(x, (rank + 1) % 2, group=mine)
except ValueError as error:
    assert "not one of" in str(error)
else:
    raise AssertionError
mine2, every = dist.new_subgroups(size // 2)
assert len(every) == 2 and dist.get_world_size(mine2) == size // 2
local = dist.new_group([rank], use_local_synchronization=True)
assert dist.get_world_size(local) == 1
dist.monitored_barrier(timeout=seconds(20))
"""
)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_reductions(mpi, size):
    all_well(run_ranks(REDUCTIONS, size, timeout=80))


@pytest.mark.parametrize("size", [2, 4])
def test_moves(mpi, size):
    all_well(run_ranks(MOVES, size, timeout=80))


@pytest.mark.parametrize("size", [2, 4])
def test_objects_and_groups(mpi, size):
    all_well(run_ranks(OBJECTS, size))
