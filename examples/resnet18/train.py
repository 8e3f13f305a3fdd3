"""A ResNet-18 for 32 x 32 images learns to tell ten kinds of coloured stripes apart.

Written as one writes it for torch: replace the word `taeda` and it runs there, with the same curve
of losses. The pictures are made with numpy from a fixed seed and come in a fixed order, so that
they are the same in both.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.utils.data import DataLoader, TensorDataset

CLASSES = 10


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions beside a shortcut, which is a 1 x 1 convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += self.shortcut(x)
        return self.relu(y)


class ResNet18(nn.Module):
    """Four stages of two blocks; every stage after the first halves the picture and doubles the width."""

    def __init__(self, width: int = 64, classes: int = CLASSES) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
        )
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        self.stages = nn.Sequential(
            *(
                nn.Sequential(BasicBlock(a, b, 1 if i == 0 else 2), BasicBlock(b, b, 1))
                for i, (a, b) in enumerate(itertools.pairwise(widths))
            )
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(widths[-1], classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: taeda.Tensor) -> taeda.Tensor:
        x = self.pool(self.stages(self.stem(x)))
        return self.head(taeda.flatten(x, 1))


def stripes(count: int, seed: int) -> TensorDataset:
    """Noisy stripes: the class is their direction and, by halves, their colour."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, CLASSES, count)
    angles = (labels % 5) * (np.pi / 5) + draw.normal(0, 0.05, count)
    rows, columns = np.mgrid[:32, :32]
    along = np.cos(angles)[:, None, None] * rows + np.sin(angles)[:, None, None] * columns
    waves = np.sin(0.8 * along + draw.uniform(0, 2 * np.pi, count)[:, None, None])
    colours = np.where(labels[:, None] < 5, [[1.0, 0.4, 0.1]], [[0.1, 0.4, 1.0]])
    pictures = waves[:, None] * colours[:, :, None, None] + draw.normal(0, 0.7, (count, 3, 32, 32))
    return TensorDataset(taeda.from_numpy(pictures.astype(np.float32)), taeda.from_numpy(labels))


def train(model: ResNet18, data: TensorDataset, size: int = 32, lr: float = 0.05) -> list[float]:
    """One pass over `data`, on the model's device; return the loss of every batch."""
    device = model.head.weight.device
    loader = DataLoader(data, batch_size=size, drop_last=True)
    optimizer = taeda.optim.SGD(
        model.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4, nesterov=True
    )
    schedule = taeda.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader))
    losses = []
    model.train()
    for x, y in loader:
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


@taeda.no_grad()
def accuracy(model: ResNet18, data: TensorDataset, size: int = 64) -> float:
    device = model.head.weight.device
    model.eval()
    right = sum(
        (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
        for x, y in DataLoader(data, batch_size=size)
    )
    return right / len(data)


def main() -> None:
    parser = argparse.ArgumentParser(description="A ResNet-18 on coloured stripes.")
    parser.add_argument("--pictures", type=int, default=2048)
    parser.add_argument(
        "--width", type=int, default=64, help="of the first stage; 64 is a ResNet-18"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="where the model lives: cpu, cuda, cuda:1")
    options = parser.parse_args()
    taeda.manual_seed(options.seed)
    model = ResNet18(options.width).to(options.device)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
    start = time.perf_counter()
    losses = train(model, stripes(options.pictures, seed=1))
    for step in range(0, len(losses), max(1, len(losses) // 8)):
        print(f"step {step:4}  loss {losses[step]:.4f}")
    print(f"{(time.perf_counter() - start) / len(losses):.3f} s a step")
    print(f"test accuracy {accuracy(model, stripes(256, seed=2)):.4f}")


if __name__ == "__main__":
    main()
