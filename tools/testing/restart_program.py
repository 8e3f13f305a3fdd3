"""A training that can be killed at any moment: it resumes from its last checkpoint and ends with
the same bits.

taedarun --nproc-per-node 2 restart_program.py FOLDER STEPS PAUSE
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel

EVERY = 10  # steps between checkpoints


def batch(step: int, rank: int) -> tuple[taeda.Tensor, taeda.Tensor]:
    random = taeda.Generator().manual_seed(1000 * step + rank)
    return taeda.randn(16, 20, generator=random), taeda.randn(16, 3, generator=random)


def main() -> None:
    folder, steps, pause = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    dist.init_process_group()
    rank = dist.get_rank()
    (folder / f"pid.{rank}").write_text(str(os.getpid()))
    taeda.manual_seed(7)  # drop-out draws from it, so it is part of the state
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 3))
    model = DistributedDataParallel(net)
    optimizer = taeda.optim.AdamW(model.parameters(), lr=1e-2)
    first, saved = 0, folder / "state.taeda"
    if saved.exists():
        state = taeda.load(saved)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    for step in range(first, steps):
        taeda.manual_seed(step)
        x, y = batch(step, rank)
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        if (step + 1) % EVERY == 0 and rank == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            taeda.save({**state, "step": step + 1}, saved)
        time.sleep(pause)
    dist.barrier()
    words = [p.detach().numpy().tobytes().hex() for p in model.parameters()]
    (folder / f"weights.{rank}").write_text("\n".join(words))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
