"""The first words with a device: each line is one thing that must work before anything else is worth a look.

    contact.py                  every line, in this process; status 1 if one fails
    contact.py --each           every line in a process of its own, with CUDA_LAUNCH_BLOCKING=1
    contact.py --only copies    one line

It needs taeda alone; where PyTorch knows the device, products are compared with its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable

import taeda

LINES: dict[str, Callable[[], str]] = {}
LIMIT = 60  # seconds of a line in a process of its own


def line(function: Callable[[], str]) -> Callable[[], str]:
    LINES[function.__name__] = function
    return function


@line
def device() -> str:
    facts = taeda.cuda.get_device_properties(0)
    return f"{facts.name}, {facts.total_memory >> 20} MiB, sm_{facts.major}{facts.minor}"


@line
def copies() -> str:
    x = taeda.arange(1000.0)
    assert x.cuda().cpu().equal(x)
    return "there and back"


@line
def compiler() -> str:
    """One kernel through NVRTC itself: nothing that was kept is used."""
    from taeda.cuda import _nvrtc, _programs

    major, minor = taeda.cuda.get_device_capability()
    number = _programs.DTYPES.index("F32")
    image, symbol = _programs.program(
        "copy", "copy", number, number, "flat", 10 * major + minor, True
    )
    assert image
    assert symbol
    return "NVRTC {}.{}".format(*_nvrtc.version())


@line
def elementwise() -> str:
    x = taeda.arange(1000.0)
    assert (x.cuda() + 1).cpu().equal(x + 1)
    return "x + 1"


@line
def reductions() -> str:
    x = taeda.randn(64, 257)
    assert x.cuda().sum(1).cpu().equal(x.sum(1))
    return f"sum {x.cuda().sum().item():.4f}"


@line
def softmax() -> str:
    x = taeda.randn(33, 129)
    taeda.testing.assert_close(x.cuda().softmax(-1).cpu(), x.softmax(-1))
    return "rows of 129"


@line
def products() -> str:
    """float32 and bfloat16 beside the processor, and beside PyTorch where it is."""
    for dtype, close in ((taeda.float32, 1e-4), (taeda.bfloat16, 3e-2)):
        a, b = taeda.randn(128, 256).to(dtype), taeda.randn(256, 64).to(dtype)
        there = (a.cuda() @ b.cuda()).cpu().float()
        taeda.testing.assert_close(there, (a.float() @ b.float()), rtol=close, atol=close * 16)
    return "beside PyTorch" if _beside_torch() else "no PyTorch with a device"


def _beside_torch() -> bool:
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    if not torch.cuda.is_available():
        return False
    a, b = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    ours = taeda.from_dlpack(a) @ taeda.from_dlpack(b)
    error = (torch.from_dlpack(ours) - a @ b).abs().max().item()
    assert error < 1e-2, f"products differ by {error}"
    return True


@line
def events() -> str:
    begin, end = (taeda.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    x = taeda.ones(1 << 16, device="cuda")
    for _ in range(10):
        x = x * 1.5
    end.record()
    end.synchronize()
    return f"{begin.elapsed_time(end):.3f} ms"


@line
def gradients() -> str:
    w = taeda.randn(8, 4).cuda().requires_grad_()
    ((taeda.randn(16, 8).cuda() @ w).relu() ** 2).mean().backward()
    assert w.grad is not None
    assert w.grad.isfinite().all().item()
    return "a small step"


@line
def exhaustion() -> str:
    """More memory than there is: a sentence, and the device goes on."""
    total = taeda.cuda.mem_get_info()[1]
    try:
        taeda.empty(2 * total, dtype=taeda.uint8, device="cuda")
    except taeda.OutOfMemoryError:
        assert taeda.ones(3, device="cuda").sum().item() == 3
        return "an OutOfMemoryError"
    raise AssertionError("twice the device's memory was given")


def run(name: str) -> bool:
    """Does it work? What it says, or the first words of what is wrong, go to the output."""
    begin = time.perf_counter()
    try:
        words = LINES[name]()
        taeda.cuda.synchronize()
    except Exception as error:  # noqa: BLE001 - every failure is the answer
        print(f"FAIL {name}: {type(error).__name__}: {str(error)[:400]}", flush=True)
        return False
    print(f"ok   {name}: {words} ({time.perf_counter() - begin:.2f} s)", flush=True)
    return True


def alone(name: str) -> bool:
    """The same in a process of its own that waits for each launch."""
    command = [sys.executable, "-X", "faulthandler", __file__, "--only", name]
    env = {**os.environ, "CUDA_LAUNCH_BLOCKING": "1"}
    try:
        status = subprocess.run(command, env=env, timeout=LIMIT, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"FAIL {name}: not done after {LIMIT} s", flush=True)
        return False
    if status not in (0, 1):
        print(f"FAIL {name}: the process ended with {status}", flush=True)
    return status == 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--only", choices=LINES)
    options = parser.parse_args()
    names = [options.only] if options.only else list(LINES)
    good = [(alone if options.each else run)(name) for name in names]
    print(f"{sum(good)} of {len(good)} lines work")
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
