"""Ranks with inputs of uneven number, a sharded optimizer, gathered metrics, functional collectives
with gradients.
"""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.distributed.algorithms.join import Join
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817 - its usual name


def is_dist():
    return dist.is_available() and dist.is_initialized()


def get_world_size():
    return dist.get_world_size() if is_dist() else 1


def get_rank():
    return dist.get_rank() if is_dist() else 0


def setup_for_distributed(is_master):
    import builtins

    builtin_print = builtins.print

    def print(*args, **kwargs):
        if kwargs.pop("force", False) or is_master:
            builtin_print(*args, **kwargs)

    builtins.print = print


if int(os.environ.get("WORLD_SIZE", "1")) > 1:
    dist.init_process_group("gloo")
setup_for_distributed(get_rank() == 0)
torch.manual_seed(get_rank())
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
inputs = [torch.randn(3, 4) for _ in range(4 + get_rank())]
if is_dist():
    model = DDP(model)
    optimizer = ZeroRedundancyOptimizer(
        model.parameters(), optimizer_class=torch.optim.Adam, lr=0.01
    )
    with Join([model, optimizer]):
        for x in inputs:
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
else:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for x in inputs:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
stats = {"steps": len(inputs), "rank": get_rank()}
gathered = [None] * get_world_size()
if is_dist():
    dist.all_gather_object(gathered, stats)
    z = torch.ones(2, requires_grad=True)
    torch.distributed.nn.functional.all_reduce(z * 2).sum().backward()
    assert z.grad.tolist() == [2.0 * get_world_size()] * 2
    work = dist.all_reduce(torch.ones(1), async_op=True)
    work.wait()
else:
    gathered = [stats]
print("well", [one["steps"] for one in gathered] == [4 + r for r in range(get_world_size())])
if is_dist():
    dist.destroy_process_group()
