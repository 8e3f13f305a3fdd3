"""Processes of mp.spawn, a checkpoint that rank 0 saves and all load: the form of the first tutorial."""

import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.optim as optim
from torch.nn.parallel import DistributedDataParallel as DDP  # noqa: N817 - its usual name


def setup(rank, world_size, port):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


class ToyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.relu, self.net2 = nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)

    def forward(self, x):
        return self.net2(self.relu(self.net1(x)))


def demo_checkpoint(rank, world_size, port, path):
    setup(rank, world_size, port)
    ddp_model = DDP(ToyModel())
    if rank == 0:
        torch.save(ddp_model.state_dict(), path)
    dist.barrier()
    ddp_model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    optimizer, loss_fn = optim.SGD(ddp_model.parameters(), lr=0.001), nn.MSELoss()
    optimizer.zero_grad()
    loss_fn(ddp_model(torch.randn(20, 10)), torch.randn(20, 5)).backward()
    optimizer.step()
    flat = torch.cat([p.detach().flatten() for p in ddp_model.parameters()])
    every = [torch.zeros_like(flat) for _ in range(world_size)]
    dist.all_gather(every, flat)
    assert all(torch.equal(one, flat) for one in every)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as free, tempfile.TemporaryDirectory() as folder:
        number = free.getsockname()[1]
        free.close()
        mp.spawn(
            demo_checkpoint, args=(2, number, os.path.join(folder, "model")), nprocs=2, join=True
        )
    print("well", True)
