"""A pre-training loop as large-model trainers write it: a model made on the device meta, a mesh of shards
and of tensor parallelism, sequence parallelism, activation checkpoints, clipping, accumulation, a
schedule, checkpoints in the background, and going on from one.

`import taeda as torch` is the only line that tells it from a program for torch.
"""

import argparse
import math
import os

import taeda as torch
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from taeda.distributed.checkpoint.state_dict import (
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from taeda.distributed.checkpoint.stateful import Stateful
from taeda.distributed.device_mesh import init_device_mesh
from taeda.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor
from taeda.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

VOCABULARY, WIDTH, HEADS, KEYS, LAYERS, LENGTH, ROWS = 64, 32, 4, 2, 2, 16, 8


def rotations(width, length):
    rates = 1.0 / (10000.0 ** (torch.arange(0, width, 2).float() / width))
    angles = torch.outer(torch.arange(length).float(), rates)
    return torch.stack([angles.cos(), angles.sin()])


def rotate(x, table):
    cos, sin = (part[None, :, None, :] for part in table)
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(3)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = WIDTH // HEADS
        self.wq = nn.Linear(WIDTH, WIDTH, bias=False)
        self.wk = nn.Linear(WIDTH, KEYS * self.head, bias=False)
        self.wv = nn.Linear(WIDTH, KEYS * self.head, bias=False)
        self.wo = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, table):
        rows, length, _ = x.shape
        q, k, v = (
            part(x).view(rows, length, -1, self.head) for part in (self.wq, self.wk, self.wv)
        )
        q, k = rotate(q, table), rotate(k, table)
        k, v = (torch.repeat_interleave(t, dim=2, repeats=HEADS // KEYS) for t in (k, v))
        y = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True
        )
        return self.wo(y.transpose(1, 2).contiguous().view(rows, length, -1))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1 = nn.Linear(WIDTH, 2 * WIDTH, bias=False)
        self.w2 = nn.Linear(2 * WIDTH, WIDTH, bias=False)
        self.w3 = nn.Linear(WIDTH, 2 * WIDTH, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.attention, self.feed_forward = Attention(), FeedForward()

    def forward(self, x, table):
        x = x + self.attention(self.attention_norm(x), table)
        return x + self.feed_forward(self.ffn_norm(x))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, WIDTH)
        self.register_buffer("table", rotations(WIDTH // HEADS, LENGTH), persistent=False)
        self.layers = nn.ModuleDict({str(n): Block() for n in range(LAYERS)})
        self.norm = nn.RMSNorm(WIDTH)
        self.output = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def init_weights(self):
        self.table = rotations(WIDTH // HEADS, LENGTH)
        for number, (name, p) in enumerate(self.named_parameters()):
            with torch.no_grad():
                if "norm" in name:
                    p.fill_(1.0)
                else:
                    nn.init.constant_(p, 0.01 * (number % 5))
        return self

    def forward(self, tokens):
        x = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            x = layer(x, self.table)
        return self.output(self.norm(x))


def apply_tp(model, mesh):
    parallelize_module(
        model,
        mesh,
        {
            "tok_embeddings": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "norm": SequenceParallel(),
            "output": ColwiseParallel(
                input_layouts=Shard(1), output_layouts=Shard(-1), use_local_output=False
            ),
        },
    )
    for layer in model.layers.values():
        parallelize_module(
            layer,
            mesh,
            {
                "attention_norm": SequenceParallel(),
                "attention": PrepareModuleInput(
                    input_layouts=(Shard(1), None), desired_input_layouts=(Replicate(), None)
                ),
                "attention.wq": ColwiseParallel(),
                "attention.wk": ColwiseParallel(),
                "attention.wv": ColwiseParallel(),
                "attention.wo": RowwiseParallel(output_layouts=Shard(1)),
                "ffn_norm": SequenceParallel(),
                "feed_forward": PrepareModuleInput(
                    input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)
                ),
                "feed_forward.w1": ColwiseParallel(),
                "feed_forward.w2": RowwiseParallel(output_layouts=Shard(1)),
                "feed_forward.w3": ColwiseParallel(),
            },
        )


def values_of(name, shape):
    """The same numbers whatever the mesh."""
    if "norm" in name:
        return torch.ones(shape)
    count = math.prod(shape)
    seed = sum(map(ord, name.replace("_checkpoint_wrapped_module.", "")))
    return (torch.sin(torch.arange(count).float() * 1.7 + seed) * 0.15).view(shape)


class ModelState(Stateful):
    def __init__(self, model):
        self.model = model

    def state_dict(self):
        return get_model_state_dict(self.model)

    def load_state_dict(self, state):
        set_model_state_dict(self.model, state)


class OptimizerState(Stateful):
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def state_dict(self):
        return get_optimizer_state_dict(self.model, self.optimizer)

    def load_state_dict(self, state):
        set_optimizer_state_dict(self.model, self.optimizer, optim_state_dict=state)


class TrainState(Stateful):
    def __init__(self):
        self.step = 0

    def state_dict(self):
        return {"step": torch.tensor(self.step, dtype=torch.int64)}

    def load_state_dict(self, state):
        self.step = int(state["step"])


def batch(step, part, parts):
    rows = torch.arange(ROWS)[part::parts]
    places = torch.arange(LENGTH + 1)
    tokens = (rows[:, None] * 7 + places[None, :] * 3 + step * 5) ** 2 % VOCABULARY
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tp", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--folder")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    dist.init_process_group("gloo")
    world = dist.get_world_size()
    mesh = init_device_mesh("cpu", (world // options.tp, options.tp), mesh_dim_names=("dp", "tp"))
    with torch.device("meta"):
        model = Transformer()
    if options.tp > 1:
        apply_tp(model, mesh["tp"])
    for name, layer in model.layers.named_children():
        layer = checkpoint_wrapper(layer, preserve_rng_state=False)
        model.layers.register_module(name, torch.compile(layer) if options.compile else layer)
    policy = MixedPrecisionPolicy(param_dtype=torch.float32, reduce_dtype=torch.float32)
    for layer in model.layers.values():
        fully_shard(layer, mesh=mesh["dp"], mp_policy=policy, reshard_after_forward=True)
    fully_shard(model, mesh=mesh["dp"], mp_policy=policy)
    model.to_empty(device="cpu")
    model.init_weights()
    with torch.no_grad():
        for name, p in model.named_parameters():
            values = values_of(name.replace("_orig_mod.", ""), p.shape)
            p.copy_(distribute_tensor(values, p.device_mesh, p.placements))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95), weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 3))
    state = TrainState()
    whole = {
        "model": ModelState(model),
        "optimizer": OptimizerState(model, optimizer),
        "lr_scheduler": schedule,
        "train_state": state,
    }
    if options.folder and os.path.exists(options.folder):
        dcp.load(whole, checkpoint_id=options.folder)
    running = None
    dp = mesh["dp"]
    while state.step < options.steps:
        tokens, labels = batch(state.step, dp.get_local_rank(), dp.size())
        optimizer.zero_grad()
        total = 0.0
        for half in range(2):  # accumulation
            model.set_requires_gradient_sync(half == 1)
            part = slice(half, None, 2)
            made = model(tokens[part])
            if options.tp > 1:
                with loss_parallel():
                    loss = F.cross_entropy(made.flatten(0, 1).float(), labels[part].flatten()) / 2
                    loss.backward()
                loss = loss.full_tensor()
            else:
                loss = F.cross_entropy(made.flatten(0, 1).float(), labels[part].flatten()) / 2
                loss.backward()
            total += loss.detach()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
        optimizer.step()
        schedule.step()
        state.step += 1
        mean = torch.as_tensor(total).clone()
        dist.all_reduce(mean, group=dp.get_group())
        mean /= dp.size()
        if dist.get_rank() == 0:
            print(f"step {state.step} loss {mean.item():.5f} norm {norm.item():.4f}", flush=True)
        if options.folder and state.step % 3 == 0:
            if running is not None:
                running.result()
            running = dcp.async_save(whole, checkpoint_id=options.folder)
    if running is not None:
        running.result()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
