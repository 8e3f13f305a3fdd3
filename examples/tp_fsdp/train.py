"""The small GPT on four processes: layers cut over two, their shards over two more.

    taedarun --nproc-per-node 4 examples/tp_fsdp/train.py
    taedarun --nproc-per-node 1 examples/tp_fsdp/train.py

A mesh of 2 x 2: along "tp" each layer's columns and rows are cut (tensor parallelism), along "dp"
the batch, and of every parameter the rows (fully_shard). On one process the mesh is 1 x 1. The
losses are the same but for rounding: random numbers do not depend on the mesh.
"""

from __future__ import annotations

import argparse
import os
import random
from typing import cast

import taeda
import taeda.distributed as dist
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.fsdp import fully_shard
from taeda.distributed.tensor import DTensor, Replicate
from taeda.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)

TEXT = "the quick brown fox jumps over the lazy dog while five wizards box a jug of liquor. " * 8
ALPHABET = sorted(set(TEXT))
CODES = taeda.tensor([ALPHABET.index(character) for character in TEXT])
CONTEXT, BATCH = 16, 8


class Block(nn.Module):
    """Causal attention and a two-layer network, each behind a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head = width // heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        batch, length, _ = x.shape
        y = self.norm1(x)
        # of its heads a process has those whose columns it holds
        q, k, v = (
            part(y).view(batch, length, -1, self.head).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(batch, length, -1))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Characters to the logits of the next ones."""

    def __init__(self, width: int, layers: int, heads: int = 4) -> None:
        super().__init__()
        self.characters, self.places = (
            nn.Embedding(len(ALPHABET), width),
            nn.Embedding(CONTEXT, width),
        )
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, len(ALPHABET))

    def forward(self, codes: taeda.Tensor) -> taeda.Tensor:
        x = self.characters(codes) + self.places(taeda.arange(codes.shape[1], device=codes.device))
        for block in self.blocks:
            x = block(x)
        return self.scores(self.norm(x))


PLAN = {
    "characters": RowwiseParallel(input_layouts=Replicate()),
    **{f"blocks.*.{name}": ColwiseParallel() for name in ("q", "k", "v", "up")},
    **{f"blocks.*.{name}": RowwiseParallel() for name in ("output", "down")},
    "scores": ColwiseParallel(use_local_output=False),  # the loss takes cut classes
}


def made(mesh: dist.DeviceMesh, width: int, layers: int) -> nn.Module:
    """The model, cut over the mesh."""
    taeda.manual_seed(0)
    model = parallelize_module(GPT(width, layers).to(mesh.device_type), mesh["tp"], PLAN)
    for block in model.blocks:
        fully_shard(block, mesh=mesh["dp"])
    fully_shard(model, mesh=mesh["dp"])
    return model


def train(mesh: dist.DeviceMesh, steps: int, width: int = 32, layers: int = 2) -> list[float]:
    """Losses of some steps, each the mean over the whole batch."""
    model = made(mesh, width, layers)
    optimizer = taeda.optim.AdamW(model.parameters(), lr=3e-3)
    mine, groups = mesh.get_local_rank("dp"), mesh.size(0)
    told = []
    for step in range(steps):
        draw = random.Random(step)
        starts = [draw.randrange(len(CODES) - CONTEXT) for _ in range(BATCH)][mine::groups]
        rows = taeda.stack([CODES[start : start + CONTEXT + 1] for start in starts])
        rows = rows.to(mesh.device_type)
        optimizer.zero_grad()
        with loss_parallel():
            loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        mean = cast(DTensor, loss.detach()).full_tensor()
        dist.all_reduce(mean, dist.ReduceOp.AVG, mesh.get_group("dp"))
        told.append(mean.item())
    return told


def main() -> None:
    """Train, and print the losses on the first process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    dist.init_process_group("gloo" if options.device == "cpu" else "nccl")
    world = dist.get_world_size()
    tp = 2 if world % 2 == 0 else 1
    mesh = dist.init_device_mesh(options.device, (world // tp, tp), mesh_dim_names=("dp", "tp"))
    for step, loss in enumerate(train(mesh, options.steps), 1):
        if dist.get_rank() == 0:
            print(f"step {step}  loss {loss:.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
