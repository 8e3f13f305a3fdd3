"""Sums over two machines: the same bits everywhere, whatever lies where and however the ranks are spread."""

from __future__ import annotations

import nodes
import pytest
from ranks import all_well, finish, started

CODE = """
import numpy as np
from taeda.nn.parallel._buckets import build
dist.init_process_group("gloo", timeout=seconds(120))
group = dist.group.WORLD
assert group._engine._machines is not None
def given(r, count):
    return np.random.default_rng(r + count).standard_normal(count).astype(np.float32)
def everywhere(x):
    parts = [taeda.empty_like(x) for _ in range(size)]
    dist.all_gather(parts, x)
    return all(taeda.equal(part, parts[0]) for part in parts)
bucket = build(group, [taeda.empty(3_000_000)], [[0]])[0].buffer
for count in (1, 40_000, 3_000_000):
    want = sum(given(r, count).astype(np.float64) for r in range(size))
    plain = taeda.tensor(given(rank, count))
    dist.all_reduce(plain)
    np.testing.assert_allclose(plain.numpy(), want, rtol=1e-4, atol=1e-5)
    assert everywhere(plain)
    placed = bucket[:count].copy_(taeda.tensor(given(rank, count)))
    dist.all_reduce(placed)
    assert taeda.equal(placed, plain), "in a bucket the sum has other bits"
    mixed = taeda.tensor(given(rank, count))
    if rank == 0:
        mixed = bucket[:count].copy_(mixed)
    dist.all_reduce(mixed)
    assert taeda.equal(mixed, plain), "some in a bucket and some not: other bits"
for dtype in (taeda.bfloat16, taeda.int32, taeda.complex64):
    x = taeda.full((50_000,), rank + 1, dtype=dtype)
    dist.all_reduce(x)
    assert (x == size * (size + 1) // 2).all()
x = taeda.full((50_000,), rank + 1.0)
dist.all_reduce(x, dist.ReduceOp.MAX)
assert (x == size).all()
works = [dist.all_reduce(taeda.full((50_000,), float(i)), async_op=True) for i in range(4)]
assert [work.wait() and work.result()[0][0].item() for work in works] == [size * i for i in range(4)]
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_the_same_bits_on_two_machines(mpi, ranks):
    """One rank each, and two beside one."""
    if reason := nodes.why_not():
        pytest.skip(reason)
    with nodes.two_nodes() as two, started(CODE, ranks, two) as processes:
        all_well(finish(processes, 240))
