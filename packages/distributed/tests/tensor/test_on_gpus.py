"""DTensors, their checkpoints and DistributedDataParallel on GPUs, on the stand-ins for the driver and
for NCCL. Numbers are small multiples of powers of 2, so both devices have the same bits.
"""

from __future__ import annotations

import sys
from pathlib import Path

import by_path
import pytest
from ranks import all_well

sys.path.insert(0, str(Path(__file__).parents[1] / "nccl"))
from nccl_standin import run  # found through the line above

if sys.platform != "linux":
    pytest.skip("the stand-ins are built with the compiler of Linux", allow_module_level=True)

#: what a mesh of GPUs begins, and whatever lies on it
MESH = """
from taeda.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
import taeda.distributed.tensor as dt
mesh = dist.init_device_mesh("cuda", (size,), mesh_dim_names=("x",))
assert "cuda" in dist.group.WORLD.device_types
assert taeda.cuda.current_device() == rank % taeda.cuda.device_count()
assert mesh.device_type == "cuda" and mesh.mesh.device.type == "cpu" and mesh["x"] is mesh
here = taeda.device("cuda", taeda.cuda.current_device())
def refuses(kind, words, call):
    try: call()
    except kind as error: assert words in str(error), error
    else: raise AssertionError(words)
def same(made, wanted):
    assert made.device == here, made.device
    made = made.full_tensor() if isinstance(made, DTensor) else made
    assert made.cpu().tolist() == wanted.tolist(), (made.cpu(), wanted)
refuses(RuntimeError, "'cpu' or 'cuda'", lambda: dist.init_device_mesh("xpu", (size,)))
"""

VALUES = """
whole = taeda.arange(24.0).view(6, 4) % 5
ways = [Replicate(), Shard(0), Shard(1)]
for way in ways:
    x = distribute_tensor(whole if rank else whole.cuda(), mesh, [way])  # it moves there, from rank 0
    for other in ways: same(x.redistribute(mesh, [other]), whole)
    for call in (
        lambda x: x + 1, lambda x: (x * x).sum(0), lambda x: x @ x.t(), lambda x: x.view(2, 12),
        lambda x: x[1:4], lambda x: taeda.cat([x, x]),
        lambda x: x.relu().mean() * 24, lambda x: x.argmax(1), lambda x: x == 1,
    ): same(call(x), call(whole))
    y = x.clone()
    y.mul_(2).add_(x)
    same(y, whole * 3)
    leaf = distribute_tensor(whole, mesh, [way]).requires_grad_()
    (leaf * leaf).sum().backward()
    same(leaf.grad, 2 * whole)
part = DTensor.from_local(taeda.ones(2, 2), mesh, [Partial()])
same(part.redistribute(placements=[Shard(0)]), taeda.full((2, 2), float(size)))
same(part.to_local(), taeda.ones(2, 2))
for way in ways:
    taeda.manual_seed(3)
    on = {"device_mesh": mesh, "placements": [way]}
    made = [dt.rand(4, 4, **on), dt.zeros(4, 2, **on)]
    made += [dt.empty(5, device_mesh=mesh, placements=[Shard(0)]).fill_(2), dt.randn(3, device_mesh=mesh)]
    made.append(taeda.nn.functional.dropout(distribute_tensor(whole, mesh, [way]), 0.5))
    taeda.manual_seed(3)
    wanted = [taeda.rand(4, 4), taeda.zeros(4, 2), taeda.full((5,), 2.0), taeda.randn(3)]
    wanted.append(taeda.nn.functional.dropout(whole, 0.5))
    for one, other in zip(made, wanted): same(one, other)
small = distribute_tensor(taeda.ones(1, 3), mesh, [Shard(0)])  # a rank has nothing of it
same(small * 2, taeda.full((1, 3), 2.0))
other = dist.DeviceMesh("cuda", list(range(size))[::-1])
refuses(RuntimeError, "different", lambda: x + distribute_tensor(whole, other))
"""

SAVED = """
import taeda.distributed.checkpoint as dcp
folder = os.environ["FOLDER"]
x = distribute_tensor(taeda.arange(10.0).view(5, 2), mesh, [Shard(0)])
dcp.save({"x": x, "n": 3, "plain": taeda.ones(2).cuda()}, checkpoint_id=folder)
for place in (Shard(0), Shard(1), Replicate()):
    into = {"x": distribute_tensor(taeda.zeros(5, 2), mesh, [place]), "n": 0}
    into["plain"] = taeda.zeros(2).cuda()
    dcp.load(into, checkpoint_id=folder)
    same(into["x"], taeda.arange(10.0).view(5, 2)), same(into["plain"], taeda.ones(2))
    assert into["n"] == 3
dcp.async_save({"x": x}, checkpoint_id=folder + "/later").result()
from taeda.distributed.checkpoint.state_dict import (
    StateDictOptions, get_model_state_dict, set_model_state_dict,
)
from taeda.distributed.fsdp import fully_shard
net = fully_shard(taeda.nn.Linear(4, 3), mesh=mesh)
whole = {"weight": taeda.arange(12.0).view(3, 4), "bias": taeda.ones(3)}
options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
set_model_state_dict(net, whole if rank == 0 else {}, options=options)
same(net.weight, whole["weight"])
told = get_model_state_dict(net, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
assert rank or told["weight"].tolist() == whole["weight"].tolist() and told["weight"].device.type == "cpu"
"""


def test_values_and_ways():
    all_well(run(MESH + VALUES, 2, 200, TAEDA_NULL_LATE="1"))


def test_checkpoints(tmp_path):
    all_well(run(MESH + SAVED, 2, 200, FOLDER=str(tmp_path / "saved"), TAEDA_NULL_LATE="1"))


MISMATCH = """
dist.init_process_group("gloo")
try: dist.init_device_mesh("cuda", (size,))
except RuntimeError as error: assert "init_process_group('nccl')" in str(error), error
else: raise AssertionError("a mesh whose group carries nothing of it")
"""


def test_a_mesh_that_no_group_carries_is_refused(mpi):
    all_well(run(MISMATCH))


ASIDE = """
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
taeda.cuda.set_device(0)
dist.init_process_group("nccl", timeout=seconds(60))
net = nn.Sequential(*(nn.Linear(8, 8) for _ in range(4))).cuda()
with taeda.no_grad():
    for p in net.parameters(): p.copy_((taeda.arange(float(p.numel())) % 5 - 2).view(p.shape) / 4)
ddp = DistributedDataParallel(net, bucket_cap_mb=0.0001)
x = (taeda.arange(32.0).view(4, 8) % 3 - rank).cuda()
told = []
for step in range(3):
    ddp.zero_grad()
    ddp(x + step).sum().backward()
    with taeda.no_grad():
        for p in net.parameters(): p.sub_(p.grad, alpha=0.25)
    told.append([p.grad.cpu().tolist() for p in net.parameters()])
if rank == 0: print(told)
work = dist.all_reduce(y := taeda.ones(4).cuda(), async_op=True)
del y
noise = [taeda.zeros(4).cuda() for _ in range(4)]  # the memory is not handed out before the sum is there
work.wait()
assert work.result()[0].cpu().tolist() == [size] * 4
lines = [line.split() for line in open(os.environ["TAEDA_NULL_NCCL_LOG"])]
aside = {line[-1] for line in lines if line[0] == "AllReduce"}
assert "stream=1" in aside, lines  # asynchronous ones have a stream of their own
"""


def test_buckets_are_reduced_beside_the_backward(tmp_path):
    told = [
        run(ASIDE, 2, 100, TAEDA_NULL_LATE=late, TAEDA_NULL_NCCL_LOG=str(tmp_path / late))
        for late in "01"
    ]
    for ended in told:
        all_well(ended)
    assert told[0][0].out == told[1][0].out != ""


GPT = """
sys.path.insert(0, os.environ["EXAMPLE"])
import train
mesh = dist.init_device_mesh("cuda", (2, size // 2), mesh_dim_names=("dp", "tp"))
print(*train.train(mesh, 3))
"""


@pytest.mark.slow
def test_a_gpt_cut_both_ways_has_the_losses_of_one_process():
    example = Path(__file__).parents[4] / "examples" / "tp_fsdp"
    if not example.exists():
        pytest.skip("the example is not beside these tests")
    import taeda.distributed as dist

    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
    try:
        train = by_path.load("examples/tp_fsdp/train.py").train
        wanted = train(dist.init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp")), 3)
    finally:
        dist.destroy_process_group()
    ended = run(GPT, 4, 400, EXAMPLE=str(example), TAEDA_NULL_LATE="1")
    all_well(ended)
    for one in ended:
        assert [float(loss) for loss in one.out.split()] == pytest.approx(wanted, rel=1e-5)
