"""A fine-tuning loop behind an object that prepares model, optimizer and data, as high-level trainers do:
rank 0 alone has the weights, which go to shards from there; layers are wrapped by the name of their
class; autocast, accumulation, clipping, gathered metrics, and a whole state dict on rank 0 at the end.

`import taeda as torch` is the only line that tells it from a program for torch.
"""

import argparse
import contextlib
import math

import taeda as torch
import taeda.distributed as dist
import taeda.nn.functional as F
from taeda import nn
from taeda.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
)
from taeda.distributed.fsdp import CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, fully_shard
from taeda.utils.data import DataLoader, Dataset, DistributedSampler

CLASSES, WIDTH, ROWS = 4, 16, 24


class Samples(Dataset):
    def __len__(self):
        return ROWS

    def __getitem__(self, number):
        x = torch.sin(torch.arange(WIDTH).float() * (number % 7 + 1) * 0.3)
        return {"x": x, "label": number % CLASSES}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(3 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer() for _ in range(3)])
        self.head = nn.Linear(WIDTH, CLASSES)
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, x, label=None):
        for layer in self.layers:
            x = layer(x)
        logits = self.head(x) * self.scale
        loss = None if label is None else F.cross_entropy(logits, label)
        return {"logits": logits, "loss": loss}


class Trainer:
    def __init__(self, accumulate, offload, low):
        if not dist.is_initialized():
            dist.init_process_group("gloo")
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.accumulate, self.low, self.turn = accumulate, low, 0
        self.sync = True
        self.options = {"reshard_after_forward": True}
        if offload:
            self.options["offload_policy"] = CPUOffloadPolicy(pin_memory=False)
        if low:
            self.options["mp_policy"] = MixedPrecisionPolicy(param_dtype=torch.bfloat16)

    def prepare(self, model, optimizer_of, data):
        whole = model.state_dict() if self.rank == 0 else {}
        buffers = {name: b.clone() for name, b in model.named_buffers()}
        model = model.to(torch.device("meta"))
        for name in {"Layer"}:
            for part in model.modules():
                if part.__class__.__name__ == name and not isinstance(part, FSDPModule):
                    fully_shard(part, **self.options)
        fully_shard(model, **self.options)
        model.to_empty(device="cpu")
        set_model_state_dict(
            model,
            whole,
            options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True),
        )
        for name, value in buffers.items():
            dist.broadcast(value, 0)
            setattr(model, name, value)
        sampler = DistributedSampler(data, self.world, self.rank, shuffle=False)
        loader = DataLoader(data, batch_size=ROWS // 4 // self.world, sampler=sampler)
        self.model, self.optimizer = model, optimizer_of(model.parameters())
        return self.model, self.optimizer, loader

    @contextlib.contextmanager
    def accumulating(self):
        self.turn += 1
        self.sync = self.turn % self.accumulate == 0
        self.model.set_requires_gradient_sync(self.sync)
        yield

    def backward(self, loss):
        (loss / self.accumulate).backward()

    def clip(self, limit):
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        return norm.full_tensor() if hasattr(norm, "full_tensor") else norm

    def step(self):
        if self.sync:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def gather(self, value):
        made = [torch.empty_like(value) for _ in range(self.world)]
        dist.all_gather(made, value.contiguous())
        return torch.cat(made)

    def autocast(self):
        return torch.autocast("cpu", torch.bfloat16) if self.low else contextlib.nullcontext()


def initialise(model):
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            count = math.prod(p.shape)
            p.copy_((torch.sin(torch.arange(count).float() * 1.3 + number) * 0.2).view(p.shape))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--offload", action="store_true")
    parser.add_argument("--low", action="store_true")
    options = parser.parse_args()
    trainer = Trainer(options.accumulate, options.offload, options.low)
    model = Classifier()
    if trainer.rank == 0:
        initialise(model)
    model, optimizer, loader = trainer.prepare(
        model, lambda params: torch.optim.AdamW(params, lr=0.01), Samples()
    )
    for epoch in range(3):
        model.train()
        losses = []
        for batch in loader:
            with trainer.accumulating(), trainer.autocast():
                made = model(batch["x"], batch["label"])
                trainer.backward(made["loss"])
            if trainer.sync:
                trainer.clip(1.0)
            trainer.step()
            losses.append(trainer.gather(made["loss"].detach().float().view(1)).mean())
        model.eval()
        right = 0.0
        with torch.no_grad():
            for batch in loader:
                found = model(batch["x"])["logits"].argmax(-1)
                right += trainer.gather((found == batch["label"]).float()).sum().item()
        if trainer.rank == 0:
            mean = torch.stack(losses).mean().item()
            print(f"epoch {epoch} loss {mean:.5f} right {right / ROWS:.4f}", flush=True)
    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
    state = get_model_state_dict(model, options=whole)
    steps = get_optimizer_state_dict(model, optimizer, options=whole)
    if trainer.rank == 0:
        total = sum(value.double().abs().sum().item() for value in state.values())
        count = sum(len(one) for one in steps["state"].values())
        print(f"state {len(state)} entries, {count} of the optimizer, sum {total:.3f}", flush=True)
    else:
        assert not state and not steps.get("state")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
