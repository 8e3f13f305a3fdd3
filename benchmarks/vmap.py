"""vmap beside torch's, both in turns: gradients for each sample, a Hessian, a Jacobian forward.
`python benchmarks/vmap.py --rounds 15`.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import taeda


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32) * 0.1


def mlp(T: Any) -> Callable[[], Any]:
    F = T.nn.functional
    w = [
        T.from_numpy(numbers(512, 784)),
        T.from_numpy(numbers(512)),
        T.from_numpy(numbers(10, 512)),
        T.from_numpy(numbers(10)),
    ]
    x = T.from_numpy(numbers(64, 784, seed=1))
    y = T.from_numpy(np.arange(64) % 10)

    def loss(w, x, y):
        return F.cross_entropy(F.linear(F.linear(x[None], w[0], w[1]).relu(), w[2], w[3]), y[None])

    run = T.func.vmap(T.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: run(w, x, y)


def cnn(T: Any) -> Callable[[], Any]:
    F = T.nn.functional
    w = [
        T.from_numpy(numbers(16, 1, 3, 3)),
        T.from_numpy(numbers(32, 16, 3, 3)),
        T.from_numpy(numbers(10, 32 * 25)),
    ]
    x = T.from_numpy(numbers(32, 1, 28, 28, seed=1))
    y = T.from_numpy(np.arange(32) % 10)

    def loss(w, x, y):
        h = F.max_pool2d(F.conv2d(x[None], w[0]).relu(), 2)
        h = F.max_pool2d(F.conv2d(h, w[1]).relu(), 2)
        return F.cross_entropy(F.linear(h.flatten(1), w[2]), y[None])

    run = T.func.vmap(T.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: run(w, x, y)


def hessian(T: Any) -> Callable[[], Any]:
    w, x = T.from_numpy(numbers(64, 64)), T.from_numpy(numbers(64, seed=1))
    run = T.func.hessian(lambda x: (w @ x).tanh().square().sum())
    return lambda: run(x)


def jacfwd(T: Any) -> Callable[[], Any]:
    w, x = T.from_numpy(numbers(128, 128)), T.from_numpy(numbers(128, seed=1))
    run = T.func.jacfwd(lambda x: (w @ (w @ x).tanh()).sin())
    return lambda: run(x)


CASES = {"per-sample gradients, MLP": mlp, "per-sample gradients, CNN": cnn,
    "hessian of 64": hessian, "jacfwd of 128": jacfwd}  # fmt: skip


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def flat(made: Any) -> list[Any]:
    return (
        [part for item in made for part in flat(item)]
        if isinstance(made, (list, tuple))
        else [made]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':28}{'taeda ms':>10}{'torch ms':>10}{'ratio':>8}")
    for name, case in CASES.items():
        ours, theirs = case(taeda), case(torch)
        for a, b in zip(flat(ours()), flat(theirs()), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(x / y for x, y in pairs)
        print(f"{name:28}{a * 1e3:10.2f}{b * 1e3:10.2f}{ratio:8.2f}")


if __name__ == "__main__":
    main()
