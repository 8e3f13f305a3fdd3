"""Sorting on the stand-in driver: the processor's order, which is stable, for every dtype and length.

Of equals, topk gives the earliest on a device; which ones the processor gives is not said.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
taeda.manual_seed(0)
def same(f, what, x):
    made, wanted = f(x.cuda()), f(x)
    for a, b in zip(made, wanted, strict=True):
        assert a.device.type == "cuda", what
        back = a.cpu()
        assert ((back == b) | ((back != back) & (b != b))).all(), (what, back, b)
DTYPES = (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16, taeda.int64, taeda.uint8, taeda.int8)
for shape, dim in (
    ((1,), 0),
    ((2,), 0),
    ((33,), 0),
    ((5, 100), 1),
    ((100, 5), 0),
    ((3, 17, 4), 1),
    ((), 0),
    ((0, 3), 1),
):
    for dtype in DTYPES:
        x = (taeda.randn(shape) * 5).round().to(dtype)  # equals are many
        for descending in (False, True):
            same(lambda x: x.sort(dim, descending), ("sort", shape, dtype, descending), x)
            size = x.shape[dim] if x.dim() else 1
            for k in {0, 1, size // 2, size}:
                if (k or x.dim()) and k <= size:
                    same(lambda x: [x.topk(k, dim, descending)[0]], ("topk", shape, dtype, k), x)
                    first = (
                        x.sort(dim, descending)[1].narrow(dim, 0, k)
                        if x.dim()
                        else x.sort(dim, descending)[1][None][:k].reshape(x.shape)
                    )
                    assert k == 0 or taeda.equal(
                        x.cuda().topk(k, dim, descending)[1].cpu(), first
                    ), (shape, dtype, k)
same(lambda x: x.sort(), "bool", taeda.rand(50) > 0.5)
x = taeda.tensor([0.0, -0.0, float("nan"), -float("inf"), float("inf"), -float("nan"), -1.0, 0.0])
for dtype in DTYPES[:4]:
    for descending in (False, True):
        same(lambda x: x.sort(0, descending), ("special", dtype), x.to(dtype))
line = taeda.randn(40).round(decimals=1).sort()[0]
for dtype in (taeda.float32, taeda.float64, taeda.int64):
    for right in (False, True):
        found = lambda x: [
            taeda.searchsorted(line.to(x), x, right=right),
            taeda.bucketize(x, line.to(x), right=right, out_int32=True),
        ]
        same(found, ("places", dtype), (taeda.randn(5, 7) * 2).round(decimals=1).to(dtype))
rows, sorter = taeda.randn(5, 9).sort()[0].flip(1), taeda.arange(8, -1, -1).expand(5, 9).contiguous()
same(
    lambda x: [taeda.searchsorted(rows.to(x), x, sorter=sorter.to(x.device))],
    "by a sorter",
    taeda.randn(5, 7),
)
big = taeda.tensor([2**63 - 1, -(2**63), 0, -1, 1])
same(lambda x: x.sort(), "large", big)
same(lambda x: [x.argsort(1), x.msort()], "relatives", taeda.randn(6, 7))
"""


@pytest.mark.slow
def test_sorting_is_the_processors():
    standin.run(PROGRAM, TAEDA_NULL_LATE="1", TAEDA_CUDA_FALLBACK="")
