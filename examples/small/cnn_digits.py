"""Pictures of bars told apart by a CNN with batch norm and dropout, through a data set of one's
own, and its accuracy.
"""

from __future__ import annotations

import numpy as np

import taeda
import taeda.nn.functional as F
from taeda import nn
from taeda.utils.data import DataLoader, Dataset


class Bars(Dataset):
    """Noisy pictures of 12 x 12 with one bright row (class 0 to 3) or column (4 to 7)."""

    def __init__(self, count: int, transform=None) -> None:
        rng = np.random.default_rng(count)
        self.labels = rng.integers(0, 8, count)
        self.pictures = rng.normal(0, 0.3, (count, 12, 12)).astype("float32")
        for picture, label in zip(self.pictures, self.labels, strict=True):
            place = 3 * (label % 4) + 1
            (picture if label < 4 else picture.T)[place] += 1
        self.transform = transform

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int):
        picture = taeda.from_numpy(self.pictures[index]).unsqueeze(0)
        if self.transform is not None:
            picture = self.transform(picture)
        return {"picture": picture, "label": self.labels[index]}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.drop = nn.Dropout(0.0)  # random numbers would differ
        self.head = nn.Linear(16 * 3 * 3, 8)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.head(self.drop(taeda.flatten(x, 1)))


def make() -> nn.Module:
    return Net()


def train(model: nn.Module, epochs: int = 2) -> list[float]:
    loader = DataLoader(Bars(256, transform=lambda picture: (picture - 0.1) / 0.4), batch_size=32)
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    schedule = taeda.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=epochs * len(loader))
    losses = []
    for _ in range(epochs):
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch["picture"]), batch["label"], label_smoothing=0.05)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
    model.eval()
    right = 0
    with taeda.inference_mode():
        for batch in DataLoader(Bars(64), batch_size=20, drop_last=False):
            right += (model(batch["picture"]).argmax(1) == batch["label"]).sum().item()
    return [*losses, float(right > 8)]


if __name__ == "__main__":
    print(train(make()))
