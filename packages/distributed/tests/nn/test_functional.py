"""Collectives that gradients flow through, and batch normalisation over ranks, against one process
with everything.
"""

from __future__ import annotations

from ranks import all_well, run_ranks

FLOW = """
import taeda.distributed.nn as dnn
from taeda import nn
dist.init_process_group("gloo", timeout=seconds(30))
def leaf(): return taeda.tensor([rank + 1.0, 2.0], requires_grad=True)
x = leaf(); y = dnn.all_reduce(x * x); (y * (rank + 1)).sum().backward()
total = sum(r + 1 for r in range(size))
assert x.grad.tolist() == [2 * (rank + 1) * total, 4 * total], x.grad
x = leaf(); outs = dnn.all_gather(x); (sum(o * (i + 1) for i, o in enumerate(outs))).sum().backward()
assert x.grad.tolist() == [(rank + 1) * size] * 2
x = leaf(); y = dnn.broadcast(x, 1); (y * (rank + 1)).sum().backward()
assert y.tolist() == [2.0, 2.0] and x.grad.tolist() == ([total] * 2 if rank == 1 else [0, 0])
x = leaf(); y = dnn.reduce(x, 0); (y * 3 if rank == 0 else y * 0).sum().backward()
assert x.grad.tolist() == [3, 3]
xs = [taeda.full((2,), float(rank + r), requires_grad=True) for r in range(size)]
y = dnn.reduce_scatter(taeda.empty(2), xs); (y * (rank + 1)).sum().backward()
assert y[0].item() == sum(r + rank for r in range(size)) and [t.grad[0].item() for t in xs] == [
    r + 1 for r in range(size)
]
x = leaf()
outs = dnn.gather(x, 0)
(sum(o * (i + 2) for i, o in enumerate(outs)).sum() * (1 if rank == 0 else 0)).backward()
assert x.grad.tolist() == [rank + 2] * 2, x.grad
xs = [taeda.full((2,), float(r), requires_grad=True) for r in range(size)]
y = dnn.scatter(xs, 0); (y * (rank + 5)).sum().backward()
assert y[0].item() == rank
if rank == 0: assert [t.grad[0].item() for t in xs] == [r + 5 for r in range(size)]
xs = [taeda.full((2,), 10.0 * rank + r, requires_grad=True) for r in range(size)]
outs = dnn.all_to_all([taeda.empty(2) for _ in range(size)], xs)
sum((i + rank) * o for i, o in enumerate(outs)).sum().backward()
assert [o[0].item() for o in outs] == [10.0 * r + rank for r in range(size)] and [
    t.grad[0].item() for t in xs
] == [rank + r for r in range(size)]
x = taeda.arange(float(size)).requires_grad_()
y = dnn.all_to_all_single(taeda.empty(size), x); (y * rank).sum().backward()
assert x.grad.tolist() == list(range(size))

# batch normalisation
taeda.manual_seed(3)
whole, weight = (
    taeda.randn(6 * size, 4, 3, dtype=taeda.float64),
    taeda.randn(6 * size, 4, 3, dtype=taeda.float64),
)
for momentum in (0.1, None):
    one = nn.BatchNorm1d(4, momentum=momentum).double()
    many = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(4, momentum=momentum).double())
    cut = [2 * 1, 6 * size - 2] if size == 2 else [6] * size
    for step in range(2):
        a, b = whole.clone().requires_grad_(), whole.split(cut)[rank].clone().requires_grad_()
        (one(a) * weight).sum().backward()
        out = many(b); (out * weight.split(cut)[rank]).sum().backward()
        assert taeda.allclose(b.grad, a.grad.split(cut)[rank], atol=1e-10), (b.grad, a.grad)
        for p, q in zip(one.parameters(), many.parameters()):
            g = q.grad.clone(); dist.all_reduce(g)
            assert taeda.allclose(g, p.grad)
        one.zero_grad(); many.zero_grad()
        if step == 0:
            fresh = nn.BatchNorm1d(4, momentum=momentum).double(); fresh(whole)
            assert taeda.allclose(many.running_mean, fresh.running_mean) and taeda.allclose(
                many.running_var, fresh.running_var
            )
            many.load_state_dict(one.state_dict())
many.eval()
many(whole)
dist.barrier()
"""


def test_gradients_flow(mpi):
    all_well(run_ranks(FLOW, 2))


def test_gradients_flow_on_three(mpi):
    all_well(run_ranks(FLOW, 3))
