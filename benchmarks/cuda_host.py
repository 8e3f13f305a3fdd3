"""What the host spends on small work of a CUDA device, in nanoseconds, on the stand-in driver with
kernels left out: `python benchmarks/cuda_host.py`. Minima of batches by processor time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "packages" / "core" / "tests" / "cuda"))
import standin

PROGRAM = """
import time, taeda
from taeda._native import core

def nanoseconds(call, n=300, rounds=200):
    least = float("inf")
    for _ in range(rounds):
        begin = time.thread_time_ns()
        for _ in range(n):
            call()
        least = min(least, (time.thread_time_ns() - begin) / n)
    return least

def block():
    core.cuda_raw_free(core.cuda_raw_new(0, 16384, 0)[1])

a, b = taeda.ones(64, 64, device="cuda"), taeda.ones(64, 64, device="cuda")
x, y, bias = taeda.ones(64, 64), taeda.ones(64, 64), taeda.ones(64, device="cuda")
for name, call in (
    ("a + b of 64 x 64 on cuda", lambda: a + b),
    ("the same on the cpu", lambda: x + y),
    ("a @ b", lambda: a @ b),
    ("linear with bias", lambda: taeda.nn.functional.linear(a, b, bias)),
    ("a block taken and given back", block),
    ("an empty call", lambda: None),
):
    print(f"{name:<32} {nanoseconds(call):7.0f} ns")
"""

if __name__ == "__main__":
    settings = {"TAEDA_NULL_SKIP": "1", "TAEDA_NULL_PROTECT": "0", "PYTHONWARNINGS": "ignore"}
    print(standin.run(PROGRAM, **settings), end="")
    print("without cuBLASLt:")
    print(standin.run(PROGRAM, TAEDA_LIBCUBLASLT="/nowhere", **settings), end="")
