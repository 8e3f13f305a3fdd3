"""taeda beside whoever else is on the card: PyTorch and CuPy in one process, streams, forks, another process.

Each check says ok, FAIL, or "not run" with what is missing; the status is 1 if one fails.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable

import taeda

CHECKS: dict[str, Callable[[], str]] = {}


class Missing(Exception):
    """What a check needs is not on this machine."""


def check(function: Callable[[], str]) -> Callable[[], str]:
    CHECKS[function.__name__] = function
    return function


def needed(name: str) -> object:
    if importlib.util.find_spec(name) is None:
        raise Missing(f"{name} is not installed")
    return importlib.import_module(name)


def torch_with_device() -> object:
    torch = needed("torch")
    if not torch.cuda.is_available():  # type: ignore[attr-defined]
        raise Missing("torch has no device")
    return torch


@check
def dlpack_with_torch() -> str:
    torch = torch_with_device()
    side = taeda.cuda.Stream()
    with taeda.cuda.stream(side):
        x = taeda.ones(1 << 20, device="cuda") * 3
    theirs = torch.from_dlpack(x) + 1  # type: ignore[attr-defined]
    ours = taeda.from_dlpack(theirs) * 2
    assert ours.sum().item() == 8 << 20
    return "both ways, from a side stream"


@check
def inside_a_stream_of_torch() -> str:
    torch = torch_with_device()
    with torch.cuda.stream(torch.cuda.Stream()):  # type: ignore[attr-defined]
        x = taeda.ones(1000, device="cuda").cumsum(0)
    assert x[-1].item() == 1000
    return "sums are right"


@check
def rows_of_cupy() -> str:
    needed("cupy")
    x = taeda.randn(16, 16).cuda()
    eye = taeda.linalg.inv(x) @ x
    taeda.testing.assert_close(eye.cpu(), taeda.eye(16), rtol=1e-2, atol=1e-2)
    taeda.testing.assert_close(
        taeda.fft.ifft(taeda.fft.fft(x)).real.cpu(), x.cpu(), rtol=1e-4, atol=1e-4
    )
    return "inv and fft"


@check
def late_frees() -> str:
    """Memory that another stream still uses serves nobody until it is done."""
    side, main = taeda.cuda.Stream(), taeda.cuda.current_stream()
    for k in range(50):
        x = taeda.full((1 << 18,), float(k), device="cuda")
        side.wait_stream(main)
        with taeda.cuda.stream(side):
            y = x * 2
        x.record_stream(side)
        del x
        taeda.full((1 << 18,), -1.0, device="cuda")
        main.wait_stream(side)
        assert y[-1].item() == 2 * k, k
    return "50 rounds"


@check
def pinned_copies() -> str:
    x = taeda.arange(1 << 20).pin_memory()
    y = x.to("cuda", non_blocking=True)
    back = taeda.empty_like(x).pin_memory()
    back.copy_(y, non_blocking=True)
    taeda.cuda.synchronize()
    assert back.equal(x)
    return "without waiting"


@check
def forked_child() -> str:
    child = os.fork()
    if not child:
        with contextlib.suppress(RuntimeError):
            taeda.ones(3, device="cuda")
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child was not refused"
    return "refused in words"


@check
def another_process() -> str:
    """A tensor goes to a spawned process, which writes to it."""
    context = taeda.multiprocessing.get_context("spawn")
    x, done = taeda.zeros(1000, device="cuda"), context.Event()
    worker = context.Process(target=_write, args=(x, done))
    worker.start()
    assert done.wait(60), "the other process did not come"
    worker.join()
    assert x.sum().item() == 1000, x.sum().item()
    return "by a handle"


def _write(x: taeda.Tensor, done: object) -> None:
    x += 1
    taeda.cuda.synchronize()
    done.set()  # type: ignore[attr-defined]


def main() -> int:
    failed = 0
    for name, function in CHECKS.items():
        try:
            print(f"ok   {name}: {function()}", flush=True)
        except Missing as error:
            print(f"not run: {name}: {error}", flush=True)
        except Exception as error:  # noqa: BLE001 - every failure is the answer
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
