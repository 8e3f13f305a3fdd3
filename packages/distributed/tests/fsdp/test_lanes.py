"""Units on GPUs, on the stand-ins for the driver and for NCCL: the values of the processor, in whatever
order the streams work, and no wait that is not told of.

Weights and inputs are small multiples of powers of 2, so every sum is exact and both devices have the
same bits. With TAEDA_NULL_LATE the stand-in works on a stream only when somebody waits for it: what is
read, or handed out again, without an order between the streams has other bits then.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ranks import all_well

sys.path.insert(0, str(Path(__file__).parents[1] / "nccl"))
from nccl_standin import run  # found through the line above

if sys.platform != "linux":
    pytest.skip("the stand-ins are built with the compiler of Linux", allow_module_level=True)

BEGIN = """
from taeda import nn
from taeda.distributed.fsdp import (
    CPUOffloadPolicy, FullyShardedDataParallel, MixedPrecisionPolicy, ShardingStrategy, fully_shard,
)
WIDTH = 8
def exact(shape, start):
    count = taeda.Size(shape).numel()
    return (taeda.arange(start, start + count) % 5 - 2).float().view(shape) / 4
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.last, self.skips = nn.Linear(WIDTH, 3), None
        self.register_buffer("shift", taeda.ones(1))
        with taeda.no_grad():
            for number, p in enumerate(self.parameters()): p.copy_(exact(p.shape, number))
    def forward(self, x, times=1):
        for block in [*self.blocks] * times: x = x if block is self.skips else block(x).relu()
        return self.last(x + self.shift.to(x.dtype))
def made(mesh, **options):
    net = Net()
    for block in net.blocks: fully_shard(block, mesh=mesh, **options)
    return fully_shard(net, mesh=mesh, **options)
def whole(x): return (x.full_tensor() if hasattr(x, "full_tensor") else x).cpu().tolist()
def batch(kind, step): return exact((4, WIDTH), 7 * rank + 3 * step).to(kind)
def steps(net, kind, count=2, loss=lambda net, x, out: out.sum(), **call):
    told = []
    for step in range(count):
        x = batch(kind, step)
        out = net(x, **call)
        loss(net, x, out).backward()
        with taeda.no_grad():
            for p in net.parameters():
                if p.grad is not None: p.sub_(p.grad, alpha=0.25)
        told.append([whole(out.detach()), [whole(p) for p in net.parameters()]])
        for p in net.parameters(): p.grad = None
    return told
"""

#: programs of one mesh `mesh` on `kind`; what each tells is the same on both kinds
OPTIONS = {
    "plain": "told = steps(made(mesh), kind)",
    "kept": "told = steps(made(mesh, reshard_after_forward=False), kind)",
    "mixed": """
policy = MixedPrecisionPolicy(taeda.bfloat16, taeda.float32)
told = steps(made(mesh, mp_policy=policy), kind)
""",
    "ahead": """
net = made(mesh)
first, second, third = net.blocks
first.set_modules_to_forward_prefetch([second, third]), second.set_modules_to_forward_prefetch([third])
third.set_modules_to_backward_prefetch([second]), second.set_modules_to_backward_prefetch([first])
told = steps(net, kind, 3)
""",
    "ahead, for nothing": """
net = made(mesh)
net.blocks[1].unshard(async_op=True)
with taeda.no_grad():
    for p in net.parameters(): p.add_(0.25)  # what is under way is old
told = steps(net, kind)
net.unshard(async_op=True).wait()
net.reshard()
""",
    "nothing is read between": """
net = made(mesh)
for step in range(3):
    net(batch(kind, step)).sum().backward()
    with taeda.no_grad():
        for p in net.parameters(): p.sub_(p.grad, alpha=0.25)
    net.zero_grad()
told = steps(net, kind, 1)
""",
    "streams that everybody has": """
net = made(mesh)
sizes = [p.to_local().numel() for p in net.parameters()]
net(batch(kind, 0)).sum().backward()
with taeda.no_grad():
    for p in net.parameters(): p.sub_(p.grad, alpha=0.25)
net.zero_grad()
for _ in range(32 if kind == "cuda" else 0):  # all that are handed out
    side = taeda.cuda.Stream()
    with taeda.cuda.stream(side): noise = [taeda.full((n,), 9.0, device="cuda") for n in sizes]
    side.synchronize()  # before the step is done
told = [whole(p) for p in net.parameters()]
""",
    "by hand, unseen": """
net = made(mesh)
with taeda.no_grad(): net(batch(kind, 0))
for p in net.parameters(): p.to_local().data.add_(0.5)  # no version tells of it
for part in (net, *net.blocks): part.unshard()
told = [[whole(p) for p in net.parameters()]]
""",
    "twice in a forward": "told = steps(made(mesh), kind, 1, times=2)",
    "three times, and again": """
net = made(mesh)
out = net(batch(kind, 0), times=3).sum()
out.backward(retain_graph=True)
out.backward()
told = [whole(p.grad) for p in net.parameters()]
""",
    "another use of the shards": """
def loss(net, x, out): return out.sum() + sum((p * p).sum().full_tensor() for p in net.parameters())
told = steps(made(mesh), kind, loss=loss)
""",
    "hooks": """
net, seen = made(mesh), []
for p in net.parameters():
    p.register_hook(lambda g: g * 2)
    p.register_post_accumulate_grad_hook(lambda p: seen.append(whole(p.grad)))
told = [steps(net, kind), seen]
""",
    "accumulated": """
net = made(mesh)
net(batch(kind, 5)).sum().backward()
told = steps(net, kind)
net.set_requires_gradient_sync(False)
net(batch(kind, 5)).sum().backward()
net.set_requires_gradient_sync(True)
told.append(steps(net, kind))
""",
    "unused and frozen": """
net = fully_shard(Net(), mesh=mesh)
net.blocks[0].requires_grad_(False)
net.skips = net.blocks[1 + rank]  # one rank has a gradient, another none
told = steps(net, kind)
""",
    "of some": """
net = made(mesh)
params = list(net.parameters())
told = [whole(g) for g in taeda.autograd.grad(net(batch(kind, 0)).sum(), params[2:5])]
told += [p.grad for p in params]
told += steps(net, kind)
""",
    "without a graph": """
net = made(mesh)
with taeda.no_grad(): told = [whole(net(batch(kind, n))) for n in range(3)]
for p in net.parameters(): p.to_local().data.add_(0.5)  # no version tells of it
with taeda.no_grad(): told += [whole(net(batch(kind, n))) for n in range(3)]
""",
    "along 1": """
from taeda.distributed.tensor import Shard
told = steps(made(mesh, shard_placement_fn=lambda p: Shard(p.ndim - 1) if p.ndim == 2 else None), kind)
""",
    "offloaded": """
net = made(mesh, offload_policy=CPUOffloadPolicy())
assert all(p.device.type == "cpu" for p in net.parameters())
told = steps(net, kind)
assert all(p.to_local().is_pinned() == (kind == "cuda") for p in net.parameters())
""",
    "on a stream": """
net = made(mesh)
import contextlib
side = taeda.cuda.Stream() if kind == "cuda" else None
x = batch(kind, 0)
if side: side.wait_stream(taeda.cuda.current_stream())
with taeda.cuda.stream(side) if side else contextlib.nullcontext(): out = net(x)
if side: taeda.cuda.current_stream().wait_stream(side)
out.sum().backward()
told = [whole(p.grad) for p in net.parameters()]
""",
    "replicas": """
mesh = dist.init_device_mesh(kind, (2, 1), mesh_dim_names=("dp", "shard"))
net, hooked = made(mesh), []
if kind == "cuda": side = taeda.cuda.Stream()
for part in (net, *net.blocks):
    part.set_all_reduce_hook(lambda row: row.mul_(2), stream=side if kind == "cuda" else None)
told = steps(net, kind)
net.set_requires_all_reduce(False)
net(batch(kind, 5)).sum().backward()
net.set_requires_all_reduce(True)
told.append(steps(net, kind))
""",
    "the wrapper": """
nets = [FullyShardedDataParallel(Net().to(kind), auto_wrap_policy={nn.Linear}, sharding_strategy=s)
        for s in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD)]
told = [steps(net, kind) for net in nets]
told += [{k: v.cpu().tolist() for k, v in net.state_dict().items()} for net in nets]
""",
    "from meta": """
with taeda.device("meta"): net = Net()
for block in net.blocks: fully_shard(block, mesh=mesh)
fully_shard(net, mesh=mesh)
net.to_empty(device=kind)
with taeda.no_grad():
    for number, p in enumerate(net.parameters()): p.fill_(number / 8)
    net.shift.fill_(1)
told = steps(net, kind)
""",
    "scaled": """
net = made(mesh)
scaler = taeda.amp.GradScaler(kind, init_scale=16.0, growth_interval=2)
optimizer = taeda.optim.SGD(net.parameters(), lr=0.25)
told = []
for step in range(3):
    optimizer.zero_grad()
    scaler.scale(net(batch(kind, step)).sum()).backward()
    scaler.step(optimizer), scaler.update()
    told.append([[whole(p) for p in net.parameters()], scaler.get_scale()])
""",
}

RUN = """
taeda.cuda.set_device(0)
dist.init_process_group("cpu:gloo,cuda:nccl", timeout=seconds(120))
wrong = []
for name, text in OPTIONS.items():
    found = []
    for kind in ("cpu", "cuda"):
        given = {**globals(), "kind": kind, "mesh": dist.init_device_mesh(kind, (size,))}
        exec(text, given)
        found.append(given["told"])
    if found[0] != found[1]: wrong.append(name)
assert not wrong, wrong
"""


@pytest.mark.slow
def test_values_are_the_processors(mpi):
    code = BEGIN + f"OPTIONS = {OPTIONS!r}\n" + RUN
    all_well(run(code, 2, 300, TAEDA_NULL_LATE="1"))


WAITS = """
taeda.cuda.set_device(0)
dist.init_process_group("nccl", timeout=seconds(120))
net = made(dist.init_device_mesh("cuda", (size,)))
optimizer = taeda.optim.AdamW(net.parameters(), fused=True)
xs = [batch("cuda", step) for step in range(3)]
def step(x):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
step(xs[0])  # states and communicators are there
taeda.cuda.set_sync_debug_mode("error")
for x in xs: step(x)
taeda.cuda.set_sync_debug_mode("default")
names = [line.split()[0] for line in open(os.environ["TAEDA_NULL_NCCL_LOG"])]
assert names.count("AllGather") == 4 * size * 7, names  # the outermost unit keeps its parameters
assert names.count("ReduceScatter") == 4 * size * 4, names
"""


def test_a_step_waits_for_nothing(tmp_path):
    all_well(run(BEGIN + WAITS, 2, 200, TAEDA_NULL_NCCL_LOG=str(tmp_path / "calls")))


FAILS = """
import ctypes, gc
taeda.cuda.set_device(0)
dist.init_process_group("nccl")
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
driver.td_null_counted.restype = ctypes.c_char_p
net = made(dist.init_device_mesh("cuda", (1,)))
net.blocks[0].set_modules_to_forward_prefetch([net.blocks[1]])
net.blocks[2].set_modules_to_backward_prefetch([net.blocks[1]])
start = [p.detach().to_local().clone() for p in net.parameters()]
def step():
    with taeda.no_grad():
        for p, old in zip(net.parameters(), start): p.to_local().copy_(old)
    net.zero_grad()
    return steps(net, "cuda", 2)
wanted = step()
def held():
    gc.collect()
    step()
    taeda.cuda.synchronize()
    for _ in range(4): taeda.empty(1, device="cuda")
    return taeda.cuda.memory_stats()["active.all.current"]
base = held()
driver.td_null_count()
step()
n, k, calls, told = ctypes.c_long(), 0, {}, 0
while name := driver.td_null_counted(k, ctypes.byref(n)):
    calls[name.decode()], k = n.value, k + 1
for name, most in calls.items():
    for at in {1, 2, 3, *range(4, most + 1, max(1, most // 6))}:
        code = (2, 999, 719)[(at + k) % 3]
        taeda.cuda.empty_cache()  # so that memory is asked of the driver
        driver.td_null_fail(name.encode(), at, code)
        try: assert step() == wanted, (name, at, code)
        except taeda.OutOfMemoryError: told += 1
        except RuntimeError as error:
            assert f"({code})" in str(error), (name, at, code, error)
            told += 1
        driver.td_null_fail(b"", 0, 0)
        dist.group.WORLD._broken = None  # a collective that fails ends its group; here for one alone
        assert all(p._local.device.type == "cuda" for p in net.parameters()), name
        assert step() == wanted, (name, at, code)
    assert held() == base, (name, held(), base)
assert told > 30, told
"""


def test_a_step_in_which_a_call_of_the_driver_fails_leaves_nothing_behind():
    all_well(run(BEGIN + FAILS, 1, 280, TAEDA_NULL_LATE="1"))
