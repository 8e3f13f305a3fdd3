"""Two ranks train on the stand-in driver and the stand-in NCCL: DistributedDataParallel gives the
gradients of one process.

python tools/cuda/cuda_ranks.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "packages/distributed/tests/nccl"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "testing"))
from nccl_standin import run  # found through the line above
from ranks import all_well

PROGRAM = """
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
def network():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 2))
def batch(rank, step):
    return (taeda.arange(24.0).view(4, 6) / 7 + rank + step).sin()

taeda.cuda.set_device(0)
dist.init_process_group("nccl", timeout=seconds(300))
model = network().cuda()
ddp = DistributedDataParallel(model, device_ids=[0])
optimizer = taeda.optim.SGD(ddp.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    ddp(batch(rank, step)).square().sum().backward()  # device_ids moves the batch
    optimizer.step()

alone = network()
optimizer = taeda.optim.SGD(alone.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    for other in range(size):
        (alone(batch(other, step)).square().sum() / size).backward()
    optimizer.step()
for made, wanted in zip(model.parameters(), alone.parameters(), strict=True):
    assert made.is_cuda and taeda.allclose(made.cpu(), wanted, rtol=1e-5, atol=1e-6), (made, wanted)
every = [taeda.empty_like(made) for _ in range(size)]
dist.all_gather(every, made.detach())
assert all(taeda.equal(one.cpu(), made.cpu()) for one in every), "other bits on another rank"
"""


def main() -> None:
    all_well(run(PROGRAM, 2, timeout=500))
    print("two ranks on the stand-ins trained as one process does")


if __name__ == "__main__":
    main()
