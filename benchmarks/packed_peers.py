"""A vector times packed weights beside a plain read of them, torch, torchao and ggml, in one process.

    python benchmarks/packed_peers.py                    one thread, four shapes
    python benchmarks/packed_peers.py --ggml BUILD       ggml too, whose libraries lie below BUILD (ggml.py)
    python benchmarks/packed_peers.py --shape 24576 4096 this matrix
    python benchmarks/packed_peers.py --clock processor  on a machine that others use

A row is a form of ours: microseconds, the share of a plain read of the same bytes (1: as fast as memory),
and the median over the turns of ratios to the others, below 1 where ours is faster. "ggml" keeps blocks as
they are in files; "turned" are the orders that it has for this processor. torchao's layers run as they are,
not compiled.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from ggml import BYTES, Q4_0, Q8_0, Ggml
from limits import compiled

import taeda

Call = Callable[[], object]
SHAPES = [(768, 768), (3072, 768), (50304, 768), (24576, 4096)]
TURNS, BLOCK = 15, 0.02  # seconds of a block
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
_clock = CLOCKS["wall"]


def _reading(c: Any, weight: taeda.Tensor) -> Call:
    count, out = ctypes.c_int64(weight.nbytes // 4), (ctypes.c_float * 16)()
    place, once = ctypes.c_void_p(weight.data_ptr()), ctypes.c_int64(1)
    return lambda: c.read_all(place, count, once, out)


def _ours(bits: int, grouped: bool, n: int, k: int) -> tuple[Call, taeda.Tensor]:
    x, scales = taeda.rand(1, k), taeda.rand(n, k // 32 if grouped else 1).half()
    if bits == 8:
        weight = taeda.randint(-127, 128, (n, k)).to(taeda.int8)
        return lambda: taeda._weight_int8_mm(x, weight, scales), weight
    weight = taeda.randint(0, 256, (n, k // 2)).to(taeda.uint8)
    return lambda: taeda._weight_int4_mm(x, weight, scales), weight


def _torch(torch: Any, bits: int, n: int, k: int) -> Call:
    x = torch.rand(1, k).bfloat16()
    if bits == 8:
        weight, row = torch.randint(-127, 128, (n, k)).to(torch.int8), torch.rand(n).bfloat16()
        return lambda: torch._weight_int8pack_mm(x, weight, row)
    integers = torch.randint(0, 16, (n, k)).to(torch.int32)
    weight, both = (
        torch._convert_weight_to_int4pack_for_cpu(integers, 1),
        torch.rand(k // 32, n, 2).bfloat16(),
    )
    return lambda: torch._weight_int4pack_mm_for_cpu(x, weight, 32, both)


def _torchao(torch: Any, bits: int, n: int, k: int) -> Call:
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    if bits == 8:
        config = Int8WeightOnlyConfig()
    else:
        # the one for four bits on the processor is no part of what torchao promises
        four = importlib.import_module("torchao.prototype.quantization.int4.inference_workflow")
        config = four.PrototypeInt4WeightOnlyConfig(group_size=32)
    layer = torch.nn.Sequential(torch.nn.Linear(k, n, bias=False)).bfloat16().eval()
    quantize_(layer, config)
    x = torch.rand(1, k).bfloat16()
    return lambda: layer(x)


def _ggml(ggml: Ggml, bits: int, n: int, k: int) -> dict[str, Call]:
    kind, rng = Q8_0 if bits == 8 else Q4_0, np.random.default_rng(0)
    blocks = rng.integers(0, 256, (n * k // 32, BYTES[kind]), dtype=np.uint8)
    blocks[:, :2] = rng.uniform(0.001, 0.01, (len(blocks), 1)).astype("<f2").view(np.uint8)
    x = rng.standard_normal(k, dtype=np.float32).tobytes()
    made = {"ggml": ggml.product(kind, n, k, blocks.tobytes(), x)[0]}
    for name, layout in ggml.layouts(kind).items():
        made[f"ggml, turned: {name}"] = ggml.product(kind, n, k, blocks.tobytes(), x, layout)[0]
    return made


def _seconds(call: Call, count: int) -> float:
    begin = _clock()
    for _ in range(count):
        call()
    return (_clock() - begin) / count


def _turns(calls: dict[str, Call]) -> list[dict[str, float]]:
    counts = {
        name: max(1, int(BLOCK / max(_seconds(call, 2), 1e-9))) for name, call in calls.items()
    }
    return [
        {name: _seconds(call, counts[name]) for name, call in calls.items()} for _ in range(TURNS)
    ]


def _row(name: str, shape: tuple[int, int], ours: Call, others: dict[str, Call]) -> str:
    turns = _turns({"ours": ours, **others})
    shown = [f"{median(turn['ours'] for turn in turns) * 1e6:9.1f} us"]
    for other in others:
        ratio = median(turn["ours"] / turn[other] for turn in turns)
        shown.append(f"{other} {1 / ratio if other == 'read' else ratio:.2f}")
    return f"{name:18} {shape[0]:6} x {shape[1]:5}  " + "  ".join(shown)


def _others(bits: int, n: int, k: int, torch: Any, ao: bool, ggml: Ggml | None) -> dict[str, Call]:
    made: dict[str, Call] = {}
    if torch is not None:
        made["torch"] = _quiet(torch, _torch(torch, bits, n, k))
    if ao:
        made["torchao"] = _quiet(torch, _torchao(torch, bits, n, k))
    if ggml is not None:
        made |= _ggml(ggml, bits, n, k)
    return made


def _quiet(torch: Any, call: Call) -> Call:
    def run() -> None:
        with torch.no_grad():
            call()

    return run


def _there(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def main() -> None:
    """A row for each form and shape."""
    global _clock
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--ggml", help="a folder with ggml's libraries")
    parser.add_argument("--shape", type=int, nargs=2, metavar=("ROWS", "COLUMNS"))
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    given = parser.parse_args()
    _clock = CLOCKS[given.clock]
    warnings.simplefilter("ignore")
    taeda.set_num_threads(given.threads)
    torch, ao = _there("torch"), _there("torchao") is not None
    if torch is not None:
        torch.set_num_threads(given.threads)
    ggml = Ggml(given.ggml, given.threads) if given.ggml else None
    with compiled() as c, taeda.no_grad():
        for n, k in [given.shape] if given.shape else SHAPES:
            for bits in (8, 4):
                others = _others(bits, n, k, torch, ao, ggml)
                for grouped in (False, True) if bits == 8 else (True,):
                    call, weight = _ours(bits, grouped, n, k)
                    form = f"{bits} bits, {'groups of 32' if grouped else 'rows'}"
                    read = {"read": _reading(c, weight)}
                    print(_row(form, (n, k), call, {**read, **others}), flush=True)


if __name__ == "__main__":
    main()
