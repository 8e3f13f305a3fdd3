"""The digits network of `examples/digits` on several processes.

    python examples/ddp_digits/train.py                                    one process
    taedarun --nproc-per-node 2 examples/ddp_digits/train.py               two

Every process reads its share of each epoch; gradients are averaged. The batch of a step has the
same size with any number of processes. Rank 0 prints, and saves the one checkpoint to --out.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import taeda
import taeda.distributed as dist
import taeda.nn.functional as F
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
from taeda.utils.data import DataLoader, TensorDataset
from taeda.utils.data.distributed import DistributedSampler

BATCH = 64


def network() -> nn.Module:
    """Three convolutions with batch norm, two poolings, one linear layer."""

    def block(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
        convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        return convolution, nn.BatchNorm2d(outputs), nn.ReLU()

    features = (*block(1, 32), *block(32, 32), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2))
    return nn.Sequential(*features, nn.Flatten(), nn.Linear(64 * 2 * 2, 10))


def load() -> tuple[TensorDataset, TensorDataset]:
    """Images and labels to learn from, and a stratified fifth held out."""
    pixels, labels = load_digits(return_X_y=True)
    parts = train_test_split(range(len(labels)), test_size=0.2, stratify=labels, random_state=0)
    x = taeda.tensor(pixels, dtype=taeda.float32).reshape(-1, 1, 8, 8) / 16
    y = taeda.tensor(labels)
    first, second = (TensorDataset(x[part], y[part]) for part in parts)
    return first, second


def train(model: nn.Module, data: TensorDataset, epochs: int, ddp: bool) -> None:
    """Train; each process on its share of the data."""
    sampler = DistributedSampler(data, seed=0) if ddp else None
    share = BATCH // (dist.get_world_size() if ddp else 1)
    loader = DataLoader(data, batch_size=share, sampler=sampler, shuffle=sampler is None)
    optimizer = taeda.optim.Adam(model.parameters(), lr=3e-3)
    schedule = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(1, epochs + 1):
        if sampler is not None:
            sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
        schedule.step()
        if not ddp or dist.get_rank() == 0:
            print(
                f"epoch {epoch:2}  loss of rank 0 {total / (len(loader) * share):.4f}", flush=True
            )


@taeda.no_grad()
def accuracy(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    x, y = data.tensors
    return (model(x).argmax(dim=1) == y).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description="The digits network on several processes.")
    parser.add_argument(
        "--out", type=Path, default=Path("demo-out"), help="folder of the checkpoint"
    )
    parser.add_argument("--epochs", type=int, default=12)
    options = parser.parse_args()

    ddp = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if ddp:
        dist.init_process_group("gloo")
    first = not ddp or dist.get_rank() == 0
    taeda.manual_seed(0)
    data, test = load()
    model = network()
    start = time.perf_counter()
    train(DistributedDataParallel(model) if ddp else model, data, options.epochs, ddp)
    if first:
        processes = dist.get_world_size() if ddp else 1
        print(f"trained by {processes} in {time.perf_counter() - start:.1f} s")
        options.out.mkdir(parents=True, exist_ok=True)
        path = options.out / "ddp_digits.safetensors"
        taeda.save(model.state_dict(), path)
        again = network()
        again.load_state_dict(taeda.load(path))
        print(f"{path}: test accuracy {accuracy(again, test):.4f}")
    if ddp:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
