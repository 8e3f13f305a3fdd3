"""compile beside our own eager, in turns: chains of elementwise steps, training steps, modules.
`python benchmarks/compile.py --rounds 9`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda import Tensor, nn

Case = tuple[Callable[..., Any], tuple[Tensor, ...]]


def transcendental(x: Tensor) -> Tensor:
    y = x.sin() * 2 + x
    y = (y - x.cos()).tanh() * y + 1
    return (y * y + x).relu().sqrt()


def arithmetic(x: Tensor) -> Tensor:
    y = x * 2 + 1
    y = y * x - 0.5
    y = (y + x) * y
    return y.abs() + x


def step(model: nn.Module, x: Tensor, y: Tensor) -> Case:
    optimizer = taeda.optim.Adam(model.parameters(), lr=1e-3)

    def run(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return run, (x, y)


def mlp(inputs: int, hidden: int, outputs: int, rows: int) -> Case:
    model = nn.Sequential(
        nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, outputs)
    )  # fmt: skip
    return step(model, taeda.randn(rows, inputs), taeda.arange(rows) % outputs)


def digits() -> Case:
    def block(inputs: int, outputs: int) -> list[nn.Module]:
        return [
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
        ]

    layers = [*block(1, 32), *block(32, 32), nn.MaxPool2d(2), *block(32, 64), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 10))
    return step(model, taeda.randn(64, 1, 8, 8), taeda.arange(64) % 10)


CASES: dict[str, Callable[[], Case]] = {
    "sin, tanh, sqrt: 2M": lambda: (transcendental, (taeda.rand(2_000_000),)),
    "arithmetic: 2M": lambda: (arithmetic, (taeda.rand(2_000_000),)),
    "arithmetic: 200k": lambda: (arithmetic, (taeda.rand(200_000),)),
    "x + 1: 4": lambda: (lambda x: x + 1, (taeda.rand(4),)),
    "MLP 16-32-32-4 step": lambda: mlp(16, 32, 4, 8),
    "MLP 784-512-512-10 step": lambda: mlp(784, 512, 10, 128),
    "digits CNN step": digits,
}


def median(f: Callable[..., Any], args: tuple[Tensor, ...], calls: int) -> float:
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        f(*args)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    taeda.set_num_threads(given.threads)
    print(f"{'':26}{'eager':>12}{'compiled':>12}{'ratio':>8}")
    for name, make in CASES.items():
        f, args = make()
        g, _ = make()
        g = taeda.compile(g)
        for _ in range(40):  # recorded, proved, and timed by compile itself
            f(*args), g(*args)
        calls = max(5, min(500, int(0.03 / median(f, args, 5))))
        pairs = [(median(f, args, calls), median(g, args, calls)) for _ in range(given.rounds)]
        ratio = statistics.median(b / a for a, b in pairs)
        a, b = (statistics.median(column) * 1e6 for column in zip(*pairs, strict=True))
        print(f"{name:26}{a:10.1f}us{b:10.1f}us{ratio:8.2f}")


if __name__ == "__main__":
    main()
