"""What this machine can do at most, and how long a case would take at that: the share that run.py prints.

Reading, writing and multiplying are measured by loops of C that do nothing else, for data that fits
each cache and data that fits none, by the time that each thread computes: who else is on the
machine changes them little. An operation needs at least the time of its multiplications, and at
least that of reading its operands and writing its results once; a case needs the sum over its
operations. Small operations are far from it, because a call costs more than its numbers. A share
above 1 says that operations did less than was counted: they were fused, or found their data in a
nearer cache.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIZES = [1 << 14, 1 << 18, 1 << 22, 1 << 26]  # bytes of a thread's data
ROUNDS, ENOUGH = 7, 0.01  # the best of so many, each of so many seconds

SOURCE = r"""
#include <stdint.h>
typedef float vec __attribute__((vector_size(REGISTER), aligned(4)));
#define LANES ((int64_t)(sizeof(vec) / 4))
#define PART 8
/* Sums stay in registers and are stored at the end, so that no compiler leaves the loop out. */
void read_all(float *data, int64_t n, int64_t times, float *out) {
    vec s[PART] = {0};
    for (int64_t t = 0; t < times; t++) {
        for (int64_t i = 0; i + PART * LANES <= n; i += PART * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < PART; k++) s[k] += *(const vec *)(data + i + k * LANES);
        }
        __asm__ volatile("" : : : "memory");
    }
    for (int k = 1; k < PART; k++) s[0] += s[k];
    *(vec *)out = s[0];
}
void write_all(float *data, int64_t n, int64_t times, float *out) {
    for (int64_t t = 0; t < times; t++) {
        vec x = (vec){0} + (float)t;
        for (int64_t i = 0; i + PART * LANES <= n; i += PART * LANES) {
#pragma GCC unroll 8
            for (int k = 0; k < PART; k++) *(vec *)(data + i + k * LANES) = x;
        }
        __asm__ volatile("" : : : "memory");
    }
}
/* Ten sums: as many as hide how long one multiplication takes. n numbers are multiplied and added. */
void multiply(float *data, int64_t n, int64_t times, float *out) {
    vec s[10], x = *(const vec *)data, y = x * 0.5f;
    for (int k = 0; k < 10; k++) s[k] = x + (float)k;
    for (int64_t t = 0; t < times; t++)
        for (int64_t i = 0; i < n; i += 10 * LANES) {
#pragma GCC unroll 10
            for (int k = 0; k < 10; k++) s[k] = s[k] * x + y;
        }
    for (int k = 1; k < 10; k++) s[0] += s[k];
    *(vec *)out = s[0];
}
"""


@dataclass
class Limits:
    """Bytes and operations a second."""

    read: list[float]  # of data of each of SIZES
    write: list[float]
    multiply: float  # a multiplication and an addition are two

    def seconds(self, operations: float, read: float, written: float, threads: int) -> float:
        """The least time for so many float32 operations over so many bytes."""
        size = (read + written) / threads
        level = next((i for i, most in enumerate(SIZES) if size <= most), len(SIZES) - 1)
        times = read / self.read[level], written / self.write[level]
        beyond = level == len(SIZES) - 1  # memory does one of both at a time, caches do both
        return max(operations / self.multiply, sum(times) if beyond else max(times))


def measured(threads: int) -> Limits | None:
    """Those of so many threads at once; None where there is no C compiler."""
    if shutil.which("cc") is None:
        return None
    with compiled() as library:

        def rate(name: str, numbers: int, each: int) -> float:
            return max(_rate(library[name], numbers, each, threads) for _ in range(ROUNDS))

        return Limits(
            [rate("read_all", size // 4, 4) for size in SIZES],
            [rate("write_all", size // 4, 4) for size in SIZES],
            rate("multiply", 1 << 16, 2),
        )


def _register() -> int:
    """Bytes of the widest vector that this processor multiplies."""
    flags = Path("/proc/cpuinfo")
    text = flags.read_text() if flags.exists() else ""
    return 64 if "avx512f" in text else 32 if "avx2" in text else 16


@contextlib.contextmanager
def compiled() -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder) / "limits.c", Path(folder) / "limits.so"
        source.write_text(SOURCE)  # half-written: no library
        how = ["-O3", "-march=native", "-ffast-math", f"-DREGISTER={_register()}"]
        subprocess.run(["cc", "-shared", "-fPIC", *how, source, "-o", built], check=True)
        yield ctypes.CDLL(str(built))


def _rate(function: Any, numbers: int, each: int, threads: int) -> float:
    """Numbers times `each` a second, of threads that begin together."""
    times = 1
    while (seconds := _together(function, numbers, times, threads)) < ENOUGH:
        times *= 2
    return threads * numbers * times * each / seconds


def _together(function: Any, numbers: int, times: int, threads: int) -> float:
    ready = threading.Barrier(threads + 1)
    took = [0.0] * threads

    def work(k: int) -> None:
        room = mmap.mmap(-1, 4 * numbers)
        if hasattr(mmap, "MADV_HUGEPAGE"):
            room.madvise(mmap.MADV_HUGEPAGE)  # as taeda's own large blocks lie
        data, out = (ctypes.c_float * numbers).from_buffer(room), (ctypes.c_float * 16)()
        ctypes.memset(data, 0, 4 * numbers)  # first touch
        ready.wait()
        began = time.thread_time()
        function(data, ctypes.c_int64(numbers), ctypes.c_int64(times), out)
        took[k] = time.thread_time() - began

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for worker in workers:
        worker.start()
    ready.wait()
    for worker in workers:
        worker.join()
    return max(took)


# ---- what a case does ----
def least_seconds(action: Callable[[], object], limits: Limits, threads: int) -> float:
    """The least time for the operations that `action` runs in taeda; 0 if it moves nothing."""
    from taeda.utils.flop_counter import FlopCounterMode

    class Traffic(FlopCounterMode):
        """Adds up each operation's least time."""

        total = 0.0

        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
        ) -> Any:
            before = self.get_total_flops()
            made = super().__torch_dispatch__(func, types, args, kwargs)
            operands = _tensors([args, kwargs or {}])
            in_place = func.overloadpacket.__name__.endswith("_")
            results = operands[:1] if in_place else _tensors(made)
            if not in_place and results and all(_shares(r, operands) for r in results):
                return made  # a view
            self.total += limits.seconds(
                self.get_total_flops() - before, _bytes(operands), _bytes(results), threads
            )
            return made

    with Traffic(display=False) as traffic:
        action()
    return traffic.total


def _tensors(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in _tensors(item)]
    return [value] if hasattr(value, "untyped_storage") else []


def _shares(result: Any, operands: list[Any]) -> bool:
    return any(
        result.untyped_storage().data_ptr() == t.untyped_storage().data_ptr() for t in operands
    )


def _bytes(tensors: list[Any]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)
