"""A small GPT whose parameters lie in shards on all processes, and which survives their death.

    taedarun --nproc-per-node 2 examples/fsdp_gpt/train.py --kill-at 25
    taedarun --nproc-per-node 3 examples/fsdp_gpt/train.py

The first run is killed in the middle and leaves the checkpoint of the last tenth step. The second
goes on from there, on another number of processes, with the losses of a run that nobody killed:
a step's batch is drawn from the number of the step, and every process takes its share.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import io
import os
import random
import signal
from pathlib import Path
from typing import Any

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from taeda.distributed.fsdp import fully_shard

with contextlib.redirect_stdout(io.StringIO()):  # it prints itself when imported
    import this

TEXT = codecs.decode(this.s, "rot13")
ALPHABET = sorted(set(TEXT))
CODES = taeda.tensor([ALPHABET.index(character) for character in TEXT])
CONTEXT, BATCH = 32, 12  # 12 can be shared among 1, 2, 3, 4 and 6


class Block(nn.Module):
    """Causal attention and a two-layer network, each behind a norm and beside a shortcut."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        batch, length, width = x.shape
        parts = self.inputs(self.norm1(x)).split(width, dim=2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.output(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """Characters to the logits of the next ones."""

    def __init__(self, width: int, layers: int, heads: int = 4) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(ALPHABET), width)
        self.places = nn.Embedding(CONTEXT, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(ALPHABET))

    def forward(self, codes: taeda.Tensor) -> taeda.Tensor:
        x = self.characters(codes) + self.places(taeda.arange(codes.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Training:
    """What a checkpoint holds: `dcp` asks for its state, and gives it back."""

    def __init__(self, width: int, layers: int) -> None:
        taeda.manual_seed(0)  # all processes begin with the same values, and keep their rows
        self.model = GPT(width, layers)
        for block in self.model.blocks:
            fully_shard(block)
        fully_shard(self.model)
        self.optimizer = taeda.optim.AdamW(self.model.parameters(), lr=3e-3)
        self.step = 0

    def state_dict(self) -> dict[str, Any]:
        model, optimizer = get_state_dict(self.model, self.optimizer)
        return {"model": model, "optimizer": optimizer, "step": self.step}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=state["model"],
            optim_state_dict=state["optimizer"],
        )
        self.step = state["step"]

    def learn(self) -> float:
        """One step on this process's share of a batch; the mean loss of all."""
        x, y = share_of_batch(self.step)
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x).flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        return mean.item()


def share_of_batch(step: int) -> tuple[taeda.Tensor, taeda.Tensor]:
    """The rows of a step's batch that are this process's, and the characters that follow them."""
    draw = random.Random(step)
    starts = [draw.randrange(len(CODES) - CONTEXT) for _ in range(BATCH)]
    rows = [CODES[start : start + CONTEXT + 1] for start in starts]
    mine = taeda.stack(rows[dist.get_rank() :: dist.get_world_size()])
    return mine[:, :-1], mine[:, 1:]


def main() -> None:
    parser = argparse.ArgumentParser(description="A small GPT in shards.")
    parser.add_argument(
        "--folder", type=Path, default=Path("fsdp-gpt-out"), help="of the checkpoint"
    )
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--every", type=int, default=10, help="steps from checkpoint to checkpoint")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--kill-at", type=int, help="all processes die by SIGKILL at this step")
    options = parser.parse_args()

    dist.init_process_group("gloo")
    size = dist.get_world_size()
    if BATCH % size:
        raise SystemExit(f"a batch of {BATCH} cannot be shared by {size} processes")
    training = Training(options.width, options.layers)
    if (options.folder / "index.json").exists():
        dcp.load({"training": training}, checkpoint_id=options.folder)
        if dist.get_rank() == 0:
            print(f"goes on from step {training.step} of {options.folder}", flush=True)
    while training.step < options.steps:
        loss = training.learn()
        if dist.get_rank() == 0:
            print(f"step {training.step}  loss {loss:.5f}  of {size} processes", flush=True)
        if training.step == options.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if training.step % options.every == 0:
            dcp.save({"training": training}, checkpoint_id=options.folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
