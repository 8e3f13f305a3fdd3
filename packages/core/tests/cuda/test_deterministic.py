"""`use_deterministic_algorithms` on a device: nothing has to be refused, because a call has the same bits
every time, also where values meet in one place; memory that nobody set is filled.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROGRAM = """
import taeda
from taeda.nn import functional as F
taeda.use_deterministic_algorithms(True)
taeda.manual_seed(0)
x = taeda.randn(4, 6, device="cuda")
rows, flat = taeda.randint(0, 4, (4, 6), device="cuda"), taeda.randint(0, 24, (24,), device="cuda")
zeros = taeda.zeros(4, 6, device="cuda")

def slope(call):
    leaf = x.clone().requires_grad_()
    return taeda.autograd.grad(call(leaf).square().sum(), leaf)[0]

CALLS = {
    "scatter_add": lambda: zeros.scatter_add(0, rows, x),
    "index_add": lambda: zeros.index_add(0, rows[:, 0], x),
    "index_put": lambda: zeros.reshape(-1).index_put((flat,), x.reshape(-1), accumulate=True),
    "put": lambda: zeros.clone().put_(flat, x.reshape(-1)),
    "bincount": lambda: taeda.bincount(flat, x.reshape(-1).abs()),
    "cumsum": lambda: x.cumsum(1),
    "index": lambda: slope(lambda t: t[rows[:, 0], rows[:, 1]]),
    "embedding": lambda: slope(lambda t: F.embedding(rows, t)),
    "nll_loss2d": lambda: slope(lambda t: F.nll_loss(t.reshape(1, 4, 2, 3), rows[:1].reshape(1, 2, 3))),
    "interpolate": lambda: slope(lambda t: F.interpolate(t[None, None], scale_factor=1.7, mode="bilinear")),
    "max_unpool": lambda: slope(lambda t: F.max_unpool1d(*F.max_pool1d(t[None], 2, return_indices=True), 2)),
    "grid_sample": lambda: slope(lambda t: F.grid_sample(t[None, None], t.reshape(1, 3, 4, 2))),
    "reflection_pad": lambda: slope(lambda t: F.pad(t[None], (3, 2), mode="reflect")),
    "conv": lambda: slope(lambda t: F.conv1d(t[None], t[:, :3].expand(4, 4, 3))),
}
for name, call in CALLS.items():
    first = call()
    poison = taeda.full((4096,), 3.0, device="cuda")
    del poison
    assert taeda.equal(first, call()), name
grown = x[0, :1].clone().resize_(4)[1:]
for made in (taeda.empty(3, device="cuda"), x.new_empty(3), taeda.empty_like(x), grown):
    assert made.isnan().all().item()
assert taeda.empty(3, dtype=taeda.int32, device="cuda").tolist() == [2**31 - 1] * 3
"""


@pytest.mark.slow
@pytest.mark.parametrize("late", ["0", "1"])
def test_the_same_bits_each_time(late):
    standin.run(PROGRAM, TAEDA_NULL_LATE=late)
