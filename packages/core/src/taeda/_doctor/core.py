"""Core's part of `python -m taeda`: values against Python's own arithmetic, threads, random
numbers, files.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import taeda

__all__ = ["CHECKS", "FACTS"]


def _functions() -> str:
    """Functions of one number, of more numbers than fit into one vector, agree with the C library's."""
    pairs = {"exp": math.exp, "sin": math.sin, "tanh": math.tanh, "sqrt": math.sqrt}
    values = [0.01 * k for k in range(1, 1001)]
    x = taeda.tensor(values, dtype=taeda.float64)
    for name, reference in pairs.items():
        wanted = [reference(value) for value in values]
        found = getattr(taeda, name)(x).tolist()
        worst = max(abs(a - b) / abs(b) for a, b in zip(found, wanted, strict=True))
        assert worst < 1e-14, f"{name} is off by {worst:.1e}"
    return f"{', '.join(pairs)} of 1000 numbers"


def _product() -> str:
    """A product of matrices that is large enough for BLAS, of whole numbers, so that it is exact."""
    size = 200
    a = taeda.arange(size * size, dtype=taeda.float64).reshape(size, size) % 17
    b = taeda.arange(size * size, dtype=taeda.float64).reshape(size, size) % 13
    rows, columns = a.tolist(), b.t().tolist()
    wanted = [sum(x * y for x, y in zip(rows[3], column, strict=True)) for column in columns]
    assert (a @ b)[3].tolist() == wanted, "the product of two matrices is wrong"
    return f"{size} x {size}, exact"


def _solve() -> str:
    a = taeda.eye(20, dtype=taeda.float64) * 4 + 1
    x = taeda.arange(20, dtype=taeda.float64)
    worst = (taeda.linalg.solve(a, a @ x) - x).abs().max().item()
    assert worst < 1e-12, f"linalg.solve is off by {worst:.1e}"
    return "20 equations"


def _threads() -> str:
    """One thread and several give the same bits."""
    x = taeda.linspace(-3, 3, 1 << 20)
    before = taeda.get_num_threads()
    several = x.exp().sum()
    try:
        taeda.set_num_threads(1)
        alone = x.exp().sum()
    finally:
        taeda.set_num_threads(before)
    assert several.item() == alone.item(), f"{before} threads give {several}, one gives {alone}"
    return f"{before} and 1 give the same bits"


def _random() -> str:
    generator = taeda.Generator().manual_seed(0)
    x = taeda.randn(100_000, generator=generator)
    mean, deviation = x.mean().item(), x.std().item()
    assert abs(mean) < 0.02 and abs(deviation - 1) < 0.02, (mean, deviation)
    return f"mean {mean:+.4f}, deviation {deviation:.4f}"


def _files() -> str:
    """A checkpoint comes back from the disk as it was."""
    x = taeda.arange(1000.0)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("state.safetensors", "state.pt"):
            path = Path(folder) / name
            taeda.save({"x": x, "row": x[:3]}, path)
            state = taeda.load(path)
            assert (state["x"] == x).all() and state["row"].tolist() == [0.0, 1.0, 2.0], name
    return "saved and loaded"


CHECKS = {
    "functions": _functions,
    "matrix product": _product,
    "linear equations": _solve,
    "threads": _threads,
    "random numbers": _random,
    "checkpoints": _files,
}


def _cuda_cache() -> str:
    from taeda.cuda._programs import place

    return f"{place()}{'' if place().is_dir() else ' (not made yet)'}"


FACTS: dict[str, Callable[[], str]] = {"cache of CUDA kernels": _cuda_cache}
