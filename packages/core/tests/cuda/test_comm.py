"""Tensors to several devices and back, on the two devices of the stand-in driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
from taeda.cuda import comm
x = taeda.arange(12.0).reshape(4, 3)
def at(tensors): return [t.device.index for t in tensors]
def values(tensors): return [t.tolist() for t in tensors]

made = comm.broadcast(x, [1, 0])
assert at(made) == [1, 0] and values(made) == [x.tolist()] * 2
out = [taeda.zeros(4, 3, device="cuda:1"), taeda.zeros(4, 3, device="cuda:0")]
assert comm.broadcast(x.cuda(), out=out)[0] is out[0] and values(out) == [x.tolist()] * 2
refuses(RuntimeError, ["exactly one"], lambda: comm.broadcast(x))
refuses(RuntimeError, ["exactly one"], lambda: comm.broadcast(x, [0], out=out))

some = [x.cuda(), taeda.arange(5).cuda(), (x * 2).t().cuda(), taeda.ones(0).cuda(), (x + 1).cuda()]
for size in (1, 60, 10485760):
    rows = comm.broadcast_coalesced(some, [0, 1], size)
    assert [at(row) for row in rows] == [[0] * 5, [1] * 5]
    for row in rows:
        assert values(row) == values(some) and [t.dtype for t in row] == [t.dtype for t in some]

total = comm.reduce_add([x.to("cuda:0"), x.to("cuda:1"), x.to("cuda:1")], 1)
assert total.device.index == 1 and taeda.equal(total.cpu(), x * 3)
assert comm.reduce_add([x.to("cuda:1")]).device.index == 0
refuses(ValueError, ["at least one"], lambda: comm.reduce_add([]))
refuses(ValueError, ["(4, 3), (2, 3)"], lambda: comm.reduce_add([x.cuda(), x[:2].cuda()]))
sums = comm.reduce_add_coalesced([[x.cuda(0), x[0].cuda(0)], [x.cuda(1), x[1].cuda(1)]], 0)
assert taeda.equal(sums[0].cpu(), x * 2) and taeda.equal(sums[1].cpu(), x[0] + x[1]) and at(sums) == [0, 0]

parts = comm.scatter(x.cuda())
assert at(parts) == [0, 1] and values(parts) == [x[:2].tolist(), x[2:].tolist()]
parts = comm.scatter(x, [1, 0], [1, 2], dim=1)
assert at(parts) == [1, 0] and values(parts) == [x[:, :1].tolist(), x[:, 1:].tolist()]
out = [taeda.zeros(1, 3, device="cuda:0"), taeda.zeros(3, 3, device="cuda:1")]
comm.scatter(x, out=out)
assert values(out) == [x[:1].tolist(), x[1:].tolist()]
refuses(ValueError, ["2 devices and 1 chunk_sizes"], lambda: comm.scatter(x, [0, 1], [4]))
refuses(RuntimeError, ["out says"], lambda: comm.scatter(x, [0], out=out))

whole = comm.gather([x.to("cuda:0"), x.to("cuda:1")], dim=1)
assert whole.device.index == 0 and taeda.equal(whole.cpu(), taeda.cat([x, x], 1))
assert comm.gather([x.cuda(0), x.cuda(1)], destination=1).device.index == 1
assert comm.gather([x.cuda(0), x.cuda(1)], destination="cpu").tolist() == taeda.cat([x, x]).tolist()
out = taeda.zeros(8, 3, device="cuda:1")
assert comm.gather([x.cuda(0), x.cuda(1)], out=out) is out and out.tolist() == taeda.cat([x, x]).tolist()
refuses(RuntimeError, ["out says"], lambda: comm.gather([x], destination=0, out=out))
"""


@pytest.mark.parametrize("late", ["0", "1"])
def test_two_devices(late):
    standin.memory(PROGRAM, TAEDA_NULL_LATE=late)


def test_facts_of_architectures():
    standin.memory("""
assert cuda.is_tf32_supported() and "-gencode compute=compute_90,code=sm_90" in cuda.get_gencode_flags()
""")
    standin.memory(
        "assert not cuda.is_tf32_supported() and cuda.get_gencode_flags() == ''",
        TAEDA_NULL_DEVICES="0",
    )
