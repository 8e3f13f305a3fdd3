"""Communication hooks of this package, averagers and the optimizers over ranks."""

from __future__ import annotations

import pytest
from ranks import all_well, run_ranks

import taeda.distributed as dist
from taeda.distributed.algorithms import Join
from taeda.distributed.algorithms.ddp_comm_hooks import DDPCommHookType
from taeda.distributed.algorithms.ddp_comm_hooks.powerSGD_hook import PowerSGDState
from taeda.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager

START = """
import pickle
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel as DDP
from taeda.distributed.algorithms.ddp_comm_hooks import (DDPCommHookType, register_ddp_comm_hook,
    default_hooks,
    powerSGD_hook as power, post_localSGD_hook as post)
from taeda.distributed.algorithms.model_averaging import averagers, utils
from taeda.distributed.algorithms.model_averaging.hierarchical_model_averager import HierarchicalModelAverager
from taeda.distributed.optim import ZeroRedundancyOptimizer, PostLocalSGDOptimizer
dist.init_process_group("gloo", timeout=seconds(30))
def net():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 2))
taeda.manual_seed(5)
X, Y = taeda.randn(8 * size, 24), taeda.randn(8 * size, 2)
mine = slice(8 * rank, 8 * rank + 8)
loss = nn.functional.mse_loss
def same_everywhere(t):
    out = [taeda.empty_like(t) for _ in range(size)]
    dist.all_gather(out, t.detach())
    assert all(taeda.equal(o, t) for o in out)
def grads(model):
    model.zero_grad()
    loss(model(X[mine]), Y[mine]).backward()
    return taeda.cat([p.grad.flatten() for p in model.parameters()])
"""

HOOKS = (
    START
    + """
want = grads(DDP(net()))
for hook, tolerance in ((default_hooks.allreduce_hook, 0), (default_hooks.fp16_compress_hook, 1e-3),
                        (default_hooks.bf16_compress_hook, 1e-2),
                        (default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook), 1e-3),
                        (default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook), 1e-2)):
    model = DDP(net()); model.register_comm_hook(None, hook)
    for _ in range(2):
        got = grads(model)
        same_everywhere(got)
        assert (got - want).abs().max() <= tolerance
model = DDP(net()); register_ddp_comm_hook(DDPCommHookType.NOOP, model)
got = grads(model)
alone = net(); loss(alone(X[mine]), Y[mine]).backward()
assert taeda.equal(got, taeda.cat([p.grad.flatten() for p in alone.parameters()]))
for hook in (power.powerSGD_hook, power.batched_powerSGD_hook):
    state = power.PowerSGDState(
        None, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=1
    )
    model = DDP(net()); model.register_comm_hook(state, hook)
    opt = taeda.optim.SGD(model.parameters(), lr=0.1)
    first = None
    for step in range(60):
        got = grads(model); same_everywhere(got); opt.step()
        if step == 1: assert (got - want).abs().max() < 1 and state.iter >= 1
        value = loss(model.module(X), Y).item()
        first = first if first is not None else value
    assert value < 0.6 * first, (hook.__name__, value, first)
    rate, before, after = state.compression_stats()
    assert rate > 1 and before > after
    again = pickle.loads(pickle.dumps(state))
    assert again.iter == state.iter and again.process_group is None
state = post.PostLocalSGDState(None, None, start_localSGD_iter=2)
model = DDP(net()); model.register_comm_hook(state, post.post_localSGD_hook)
os.environ["LOCAL_WORLD_SIZE"] = "1"
opt = PostLocalSGDOptimizer(
    taeda.optim.SGD(model.parameters(), lr=0.1),
    averagers.PeriodicModelAverager(period=2, warmup_steps=2),
)
for step in range(5):
    grads(model); opt.step()
same_everywhere(model.module[0].weight)
kept = opt.state_dict(); assert kept["step"] == 5
grads(model); opt.step()
opt.load_state_dict(kept); assert opt.averager.step == 5
# averages
p = nn.Parameter(taeda.full((3,), float(rank))); q = nn.Parameter(taeda.full((2,), float(rank)))
p.grad = taeda.zeros(3)
utils.average_parameters_or_parameter_groups([{"params": [p, q]}], None)
assert p[0].item() == (size - 1) / 2 and q[0].item() == rank
averager = HierarchicalModelAverager({1: 1, 2: size})
for step in range(3):
    averager.average_parameters([p])
"""
)

ZERO = (
    START
    + """
for views in (False, True):
    if True:
        for cls, options in (
            (taeda.optim.Adam, {"lr": 0.05}),
            (taeda.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        ):
            plain, shared = net(), DDP(net())
            one = cls(plain.parameters(), **options)
            zero = ZeroRedundancyOptimizer(
                shared.parameters(), cls, parameters_as_bucket_view=views, **options
            )
            sched = taeda.optim.lr_scheduler.StepLR(zero, 2)
            plain_sched = taeda.optim.lr_scheduler.StepLR(one, 2)
            for step in range(4):
                one.zero_grad(); loss(plain(X), Y).backward(); one.step(); plain_sched.step()
                zero.zero_grad(); loss(shared(X[mine]), Y[mine]).backward(); zero.step(); sched.step()
            for p, q in zip(plain.parameters(), shared.parameters()):
                assert (p - q).abs().max() < 1e-4, (cls, views, (p - q).abs().max())
                same_everywhere(q)
            assert len(zero.optim.state) < 4
            try:
                zero.state_dict()
            except RuntimeError as error:
                assert "consolidate_state_dict" in str(error)
            else:
                raise AssertionError
            zero.consolidate_state_dict(0)
            kept = [zero.state_dict() if rank == 0 else None]
            dist.broadcast_object_list(kept, 0)
            assert set(kept[0]["state"]) == {0, 1, 2, 3}
            one.load_state_dict(kept[0])  # a plain optimizer takes it
            other = ZeroRedundancyOptimizer(shared.parameters(), cls, **options)
            other.load_state_dict(kept[0])
            other.add_param_group({"params": [nn.Parameter(taeda.zeros(3))], "lr": 0.5})
            other.step()
def raises(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(kind)
raises(TypeError, lambda: ZeroRedundancyOptimizer(taeda.ones(2), taeda.optim.SGD, lr=1))
raises(TypeError, lambda: ZeroRedundancyOptimizer([1, 2], taeda.optim.SGD, lr=1))
raises(ValueError, lambda: ZeroRedundancyOptimizer([], taeda.optim.SGD, lr=1))
raises(
    ValueError,
    lambda: ZeroRedundancyOptimizer(
        [taeda.ones(1), taeda.ones(1).double()], taeda.optim.SGD, lr=1
    ),
)
# join over both
from taeda.distributed.algorithms.join import Join
model = DDP(net()); zero = ZeroRedundancyOptimizer(model.parameters(), taeda.optim.SGD, lr=0.1)
with Join([model, zero]):
    for step in range(2 + rank):
        zero.zero_grad(); loss(model(X[mine]), Y[mine]).backward(); zero.step()
same_everywhere(model.module[0].weight)
try:
    with Join([model], throw_on_early_termination=True):
        for step in range(2 + 3 * rank):
            loss(model(X[mine]), Y[mine]).backward()
except RuntimeError as error:
    assert "run out" in str(error)
else:
    raise AssertionError
"""
)


def test_hooks(mpi):
    all_well(run_ranks(HOOKS, 2))


def test_shared_optimizer(mpi):
    all_well(run_ranks(ZERO, 2))


def test_refusals():
    with pytest.raises(ValueError, match="at least one joinable"):
        Join([])
    with pytest.raises(TypeError, match="Joinables"):
        Join([3])
    with pytest.raises(ValueError, match="more than 1"):
        PowerSGDState(None, start_powerSGD_iter=1)
    with pytest.raises(ValueError, match="init_process_group"):
        PeriodicModelAverager(2)
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=2)
    try:
        with pytest.raises(ValueError, match="period"):
            PeriodicModelAverager(0)
        with pytest.raises(ValueError, match="warmup"):
            PeriodicModelAverager(1, -1)
    finally:
        dist.destroy_process_group()
    assert DDPCommHookType.NOOP.name == "NOOP"
