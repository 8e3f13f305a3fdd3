"""How near the device's limits: the machine's own ceilings first, then cases, with PyTorch in turns.

    speed.py [--small] [--json FILE] [--alone]

Each case is timed by events, median of 20, its inputs rotated so that no cache holds them. A line: the
case, ms, GB/s or TFLOP/s, the share of the ceiling, and the ratio to PyTorch (a process of its own).
`--small` is for machines where only the way is tried, not the speed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ROUNDS, COPIES = 20, 3


@dataclass(frozen=True)
class Case:
    """`make(lib, n)` gives a call and its work: bytes moved, or operations of a product."""

    name: str
    make: Callable[[Any, int], tuple[Callable[[], Any], float]]
    unit: str = "GB/s"


def elementwise(dtype: str, inputs: int, call: Callable[..., Any]) -> Callable[[Any, int], Any]:
    def make(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
        kind = getattr(lib, dtype)
        size = kind.itemsize
        sets = [
            [lib.ones(n // size // 2, dtype=kind, device="cuda") for _ in range(inputs)]
            for _ in range(COPIES)
        ]
        turn = iter(range(10**9))
        return lambda: call(lib, *sets[next(turn) % COPIES]), (inputs + 1) * (n // size // 2) * size

    return make


def rows(call: Callable[[Any, Any], Any], passes: int, dtype: str = "float32") -> Any:
    def make(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
        kind = getattr(lib, dtype)
        shape = (max(n // kind.itemsize // 2048, 1), 1024)
        sets = [lib.randn(*shape, device="cuda").to(kind) for _ in range(COPIES)]
        turn = iter(range(10**9))
        bytes_ = passes * shape[0] * shape[1] * kind.itemsize
        return lambda: call(lib, sets[next(turn) % COPIES]), bytes_

    return make


def product(dtype: str) -> Any:
    def make(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
        side = 8192 if n > 1 << 24 else 64
        a, b = (lib.randn(side, side, device="cuda").to(getattr(lib, dtype)) for _ in range(2))
        return lambda: a @ b, 2.0 * side**3

    return make


def attention(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
    heads, length = (64, 2048) if n > 1 << 24 else (2, 32)
    q, k, v = (lib.randn(1, heads, length, 64, device="cuda").bfloat16() for _ in range(3))
    attend = lib.nn.functional.scaled_dot_product_attention
    return lambda: attend(q, k, v), 4.0 * heads * length * length * 64


def convolution(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
    batch, side = (32, 56) if n > 1 << 24 else (1, 8)
    x = lib.randn(batch, 64, side, side, device="cuda")
    w = lib.randn(64, 64, 3, 3, device="cuda")
    work = 2.0 * batch * side * side * 64 * 64 * 9
    return lambda: lib.nn.functional.conv2d(x, w, padding=1), work


def launches(lib: Any, n: int) -> tuple[Callable[[], Any], float]:
    x = lib.ones(16, device="cuda")

    def call() -> Any:
        y = x
        for _ in range(100):
            y = y + 1
        return y

    return call, 100.0


CASES = [
    Case("copy", elementwise("float32", 1, lambda lib, x: x.clone())),
    Case("add float32", elementwise("float32", 2, lambda lib, x, y: x + y)),
    Case("add bfloat16", elementwise("bfloat16", 2, lambda lib, x, y: x + y)),
    Case("gelu float32", elementwise("float32", 1, lambda lib, x: lib.nn.functional.gelu(x))),
    Case("exp bfloat16", elementwise("bfloat16", 1, lambda lib, x: x.exp())),
    Case("sum of all", rows(lambda lib, x: x.sum(), 1)),
    Case("sum of rows", rows(lambda lib, x: x.sum(1), 1)),
    Case("sum of columns", rows(lambda lib, x: x.sum(0), 1)),
    Case("softmax", rows(lambda lib, x: x.softmax(-1), 2)),
    Case("softmax bfloat16", rows(lambda lib, x: x.softmax(-1), 2, "bfloat16")),
    Case("layer_norm", rows(lambda lib, x: lib.nn.functional.layer_norm(x, (1024,)), 2)),
    Case("transpose", rows(lambda lib, x: x.t().contiguous(), 2)),
    Case("cumsum of rows", rows(lambda lib, x: x.cumsum(1), 2)),
    Case("product float32", product("float32"), "TFLOP/s"),
    Case("product bfloat16", product("bfloat16"), "TFLOP/s"),
    Case("attention bfloat16", attention, "TFLOP/s"),
    Case("convolution 3x3", convolution, "TFLOP/s"),
    Case("100 small additions", launches, "M op/s"),
]


def measured(lib: Any, case: Case, n: int, rounds: int) -> tuple[float, float]:
    """Median milliseconds of a call, and its work."""
    call, work = case.make(lib, n)
    call(), call()
    times = []
    for _ in range(rounds):
        begin, end = (lib.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times), work


def serve(library: str, n: int, rounds: int) -> None:
    """Answer names of cases with their figures, a line each."""
    lib = importlib.import_module(library)
    if not lib.cuda.is_available():
        sys.exit(f"{library} has no device here")
    for text in sys.stdin:
        case = next(c for c in CASES if c.name == text.strip())
        try:
            print(json.dumps(measured(lib, case, n, rounds)), flush=True)
        except Exception as error:  # noqa: BLE001 - told beside the case
            print(json.dumps(f"{type(error).__name__}: {str(error)[:100]}"), flush=True)


def asked(process: subprocess.Popen[str], case: Case) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(case.name + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    return json.loads(answer) if answer else f"the process ended with {process.wait()}"


def opened(library: str, small: bool) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", __file__, "--serve", library, *["--small"] * small]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    parser.add_argument("--json", help="also there, line by line")
    parser.add_argument("--seconds", type=float, default=1e9, help="no new case after so long")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    n, rounds = (1 << 14, 3) if options.small else (1 << 30, ROUNDS)
    if options.serve:
        serve(options.serve, n, rounds)
        return 0
    return table(options)


def table(options: argparse.Namespace) -> int:
    begin, failed, ceilings = time.monotonic(), 0, {"GB/s": 0.0, "TFLOP/s": 0.0, "M op/s": 0.0}
    libraries = ["taeda"] + ["torch"] * (not options.alone)
    processes = {name: opened(name, options.small) for name in libraries}
    for case in sorted(CASES, key=lambda c: c.name not in ("copy", "product bfloat16")):
        if time.monotonic() - begin > options.seconds:
            print(f"{case.name}: not measured, for want of time")
            continue
        answers = {}
        for name in libraries:
            if processes[name].poll() is not None:
                processes[name] = opened(name, options.small)
            answers[name] = asked(processes[name], case)
        failed += isinstance(answers["taeda"], str)
        print(told(case, answers, ceilings), flush=True)
        if options.json:
            with open(options.json, "a") as file:
                file.write(json.dumps({"case": case.name, **answers}) + "\n")
    for process in processes.values():
        process.communicate()
    return int(failed > 0)


def told(case: Case, answers: dict[str, Any], ceilings: dict[str, float]) -> str:
    ours, theirs = answers["taeda"], answers.get("torch")
    if isinstance(ours, str):
        return f"{case.name}: FAIL {ours}"
    ms, work = ours
    rate = work / ms / {"GB/s": 1e6, "TFLOP/s": 1e9, "M op/s": 1e3}[case.unit]
    ceilings[case.unit] = max(ceilings[case.unit], rate)
    ratio = f", ratio {ms / theirs[0]:.2f}" if isinstance(theirs, list) else ""
    share = f", share {rate / ceilings[case.unit]:.2f}"
    return f"{case.name}: {ms:.3f} ms, {rate:.4g} {case.unit}{share}{ratio}"


if __name__ == "__main__":
    sys.exit(main())
