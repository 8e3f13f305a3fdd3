"""Layers on integers beside PyTorch's and beside our float32: linear layers, convolutions, recurrent
layers, embedding bags, and the way to integers.

    python benchmarks/int8_layers.py                     some two minutes, on two threads
    python benchmarks/int8_layers.py --threads 1 linear  one thread, cases whose name holds this
    python benchmarks/int8_layers.py --threads 1 --clock processor   on a machine that others use

Both libraries take turns in one process, a block of calls each; shown are medians of turns, and the median of
the ratios within a turn. PyTorch's column stays empty where it is not installed.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import taeda

TURNS, BLOCK = 15, 0.01  # seconds
Call = Callable[[], object]


def _quiet(lib: Any, call: Call) -> Call:
    def run() -> None:
        with lib.no_grad():
            call()

    return run


def _dynamic(lib: Any, rows: int, size: int) -> tuple[Call, Call]:
    lib.manual_seed(0)
    layer, x = lib.nn.Linear(size, size), lib.randn(rows, size)
    small = lib.ao.quantization.quantize_dynamic(lib.nn.Sequential(layer), {lib.nn.Linear})
    return lambda: small(x), lambda: layer(x)


def _recurrent(lib: Any, kind: str) -> tuple[Call, Call]:
    lib.manual_seed(0)
    layer, x = getattr(lib.nn, kind)(256, 256), lib.randn(20, 4, 256)
    small = lib.ao.quantization.quantize_dynamic(lib.nn.ModuleDict({"a": layer}), {type(layer)})[
        "a"
    ]
    return lambda: small(x), lambda: layer(x)


def _converted(lib: Any, model: Any, x: Any) -> tuple[Call, Call]:
    """A static model behind its QuantStub, and the float one; the input is quantized already."""
    q = lib.ao.quantization
    whole = q.QuantWrapper(model).eval()
    whole.qconfig = q.get_default_qconfig("x86")
    ready = q.prepare(whole)
    ready(x)
    small = q.convert(ready)
    integers = small.quant(x)
    return lambda: small.module(integers), lambda: model(x)


def _conv(lib: Any, channels: int, size: int, kernel: int, groups: int = 1) -> tuple[Call, Call]:
    lib.manual_seed(0)
    out = 64 if channels == 3 else channels
    layer = lib.nn.Conv2d(channels, out, kernel, padding=kernel // 2, groups=groups)
    return _converted(lib, lib.nn.Sequential(layer), lib.rand(4, channels, size, size))


def _static(lib: Any, rows: int) -> tuple[Call, Call]:
    lib.manual_seed(0)
    return _converted(lib, lib.nn.Sequential(lib.nn.Linear(1024, 1024)), lib.rand(rows, 1024))


def _network(lib: Any) -> tuple[Call, Call]:
    lib.manual_seed(0)
    nn, q = lib.nn, lib.ao.quantization
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
    ).eval()
    fused = q.fuse_modules(model, [["0", "1"], ["2", "3"], ["5", "6"]])
    return _converted(lib, fused, lib.rand(8, 3, 32, 32))


def _bags(lib: Any, bits: int) -> tuple[Call, Call]:
    lib.manual_seed(0)
    q = lib.ao.quantization
    layer = lib.nn.EmbeddingBag(10000, 64, mode="sum", include_last_offset=True)
    how = (
        q.float_qparams_weight_only_qconfig
        if bits == 8
        else q.float_qparams_weight_only_qconfig_4bit
    )
    layer.qconfig = how
    small = lib.ao.nn.quantized.EmbeddingBag.from_float(layer)
    indices, offsets = lib.randint(0, 10000, (256 * 20,)), lib.arange(0, 256 * 20 + 1, 20)
    return lambda: small(indices, offsets), lambda: layer(indices, offsets)


def _quantize(lib: Any) -> tuple[Call, Call]:
    lib.manual_seed(0)
    x = lib.randn(1_000_000)
    return lambda: lib.quantize_per_tensor(x, 0.05, 128, lib.quint8), lambda: x.mul(2.0)


def _dequantize(lib: Any) -> tuple[Call, Call]:
    lib.manual_seed(0)
    x = lib.randn(1_000_000)
    integers = lib.quantize_per_tensor(x, 0.05, 128, lib.quint8)
    return integers.dequantize, lambda: x.mul(2.0)


def cases() -> Iterator[tuple[str, Callable[[Any], tuple[Call, Call]]]]:
    """Names, and what makes (the call on integers, the one in float32) of a library."""
    yield "quantize_per_tensor, a million", _quantize
    yield "dequantize, a million", _dequantize
    for rows in (1, 8, 32, 256):
        yield f"dynamic linear, {rows} x 1024 x 1024", lambda lib, m=rows: _dynamic(lib, m, 1024)
    yield "dynamic linear, 1 x 4096 x 4096", lambda lib: _dynamic(lib, 1, 4096)
    for rows in (1, 32, 256):
        yield f"static linear, {rows} x 1024 x 1024", lambda lib, m=rows: _static(lib, m)
    for name, how in (
        ("3 x 3, 64 channels", (64, 28, 3)),
        ("1 x 1, 128 channels", (128, 28, 1)),
        ("7 x 7, 3 channels", (3, 64, 7)),
        ("3 x 3, 64 groups", (64, 28, 3, 64)),
    ):
        yield f"static convolution, {name}", lambda lib, h=how: _conv(lib, *h)
    yield "static network of three convolutions", _network
    for kind in ("LSTM", "GRU"):
        yield f"dynamic {kind}, 20 steps of 4 x 256", lambda lib, k=kind: _recurrent(lib, k)
    for bits in (8, 4):
        yield f"embedding bag of {bits} bits, 256 bags of 20", lambda lib, b=bits: _bags(lib, b)


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
_clock = CLOCKS["wall"]


def _seconds(call: Call, count: int) -> float:
    begin = _clock()
    for _ in range(count):
        call()
    return (_clock() - begin) / count


def _turns(calls: list[Call]) -> list[list[float]]:
    """By turn the seconds of every call."""
    counts = [max(1, int(BLOCK / max(_seconds(call, 3), 1e-9))) for call in calls]
    return [
        [_seconds(call, count) for call, count in zip(calls, counts, strict=True)]
        for _ in range(TURNS)
    ]


def _row(name: str, make: Callable[[Any], tuple[Call, Call]], torch: Any) -> str:
    calls = [_quiet(taeda, call) for call in make(taeda)]
    if torch is not None:
        calls.append(_quiet(torch, make(torch)[0]))
    turns = _turns(calls)
    times = [statistics.median(turn[i] for turn in turns) * 1e6 for i in range(len(calls))]
    ratios = [statistics.median(turn[0] / turn[i] for turn in turns) for i in range(1, len(calls))]
    shown = [f"{time:10.1f}" for time in times] + [f"{ratio:8.2f}" for ratio in ratios]
    return f"{name:42}" + "".join(shown)


def main() -> None:
    """A row for each case."""
    global _clock
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names; none: all cases")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    given = parser.parse_args()
    _clock = CLOCKS[given.clock]
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        torch = None
    for lib in (taeda, torch) if torch is not None else (taeda,):
        lib.set_num_threads(given.threads)
    head = ("int8 us", "float32 us", "torch us", "/float32", "/torch")
    print(f"{'':42}{head[0]:>10}{head[1]:>10}{head[2]:>10}{head[3]:>9}{head[4]:>8}")
    for name, make in cases():
        if not given.names or any(part in name for part in given.names):
            print(_row(name, make, torch), flush=True)


if __name__ == "__main__":
    main()
