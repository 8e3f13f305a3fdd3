"""Sparse products and conversions beside torch's and scipy's, in turns, in one process.

    python benchmarks/sparse_peers.py [--threads 1] [--seconds 0.5] [--clock processor]

A row is a case: microseconds of taeda, torch and scipy, and the ratios to both; a library that is not
there, or refuses, has none. Each case takes its seconds and no more, all of them about a minute.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

Call = Callable[[], Any]

#: rows, entries, columns of the dense factor
PRODUCTS = (
    (10, 30, 10), (4096, 16_777, 64), (4096, 167_772, 32), (4096, 167_772, 64), (4096, 167_772, 128),
    (4096, 167_772, 512), (4096, 1_677_721, 64), (100_000, 1_000_000, 64), (100_000, 1_000_000, 256),
)  # fmt: skip


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _tensor(lib: Any, rows: int, numbers: tuple[Any, Any, Any]) -> Any:
    at, to, values = (lib.as_tensor(part) for part in numbers)
    return lib.sparse_coo_tensor(lib.stack([at, to]), values, (rows, rows))


def _numbers(rows: int, count: int) -> tuple[Any, Any, Any]:
    import numpy as np

    generator = np.random.default_rng(0)
    places = generator.integers(0, rows, (2, count))
    return places[0], places[1], generator.standard_normal(count, dtype=np.float32)


def cases() -> Iterator[tuple[str, Callable[[Any], Call], Callable[[Any], Call]]]:
    """(name, what a library of tensors runs, what scipy runs)."""
    import numpy as np

    for rows, count, columns in PRODUCTS:
        numbers = _numbers(rows, count)
        dense = np.random.default_rng(1).standard_normal((rows, columns), dtype=np.float32)

        def ours(lib: Any, rows: int = rows, numbers: Any = numbers, dense: Any = dense) -> Call:
            matrix, other = (
                _tensor(lib, rows, numbers).coalesce().to_sparse_csr(),
                lib.as_tensor(dense),
            )
            return lambda: matrix @ other

        def theirs(
            sparse: Any, rows: int = rows, numbers: Any = numbers, dense: Any = dense
        ) -> Call:
            matrix = sparse.coo_matrix((numbers[2], numbers[:2]), (rows, rows)).tocsr()
            return lambda: matrix @ dense

        yield f"CSR @ dense, {rows}, {count} entries, {columns} columns", ours, theirs
    for columns in (64, 512):
        numbers = _numbers(4096, 167_772)
        dense = np.random.default_rng(1).standard_normal((4096, columns), dtype=np.float32)

        def short(lib: Any, numbers: Any = numbers, dense: Any = dense) -> Call:
            matrix = _tensor(lib, 4096, numbers).coalesce().to(lib.bfloat16).to_sparse_csr()
            other = lib.as_tensor(dense).bfloat16()
            return lambda: matrix @ other

        name = f"CSR @ dense, 4096, 167772 entries, {columns} columns, bfloat16"
        yield name, short, lambda sparse: sparse.no_short_floats  # scipy has none
    for rows, count in ((2000, 20_000), (2000, 1_000_000), (100_000, 1_000_000)):
        numbers = _numbers(rows, count)
        yield (
            f"coalesce, {rows}, {count} entries",
            lambda lib, rows=rows, numbers=numbers: lambda: _tensor(lib, rows, numbers).coalesce(),
            lambda sparse, rows=rows, numbers=numbers: (
                lambda: sparse.coo_matrix((numbers[2], numbers[:2]), (rows, rows)).tocsr()
            ),
        )
    numbers = _numbers(100_000, 1_000_000)

    def to_columns(lib: Any) -> Call:
        matrix = _tensor(lib, 100_000, numbers).coalesce().to_sparse_csr()
        return lambda: matrix.to_sparse_csc()

    def to_columns_there(sparse: Any) -> Call:
        matrix = sparse.coo_matrix((numbers[2], numbers[:2]), (100_000, 100_000)).tocsr()
        return lambda: matrix.tocsc()

    yield "CSR to CSC, 100000, 1000000 entries", to_columns, to_columns_there


def _prepared(make: Callable[[Any], Call], lib: Any) -> Call | None:
    """The call, made once; None where the library has none of it: its column stays empty."""
    if lib is None:
        return None
    try:
        call = make(lib)
        call()
    except (RuntimeError, NotImplementedError, AttributeError):
        return None
    return call


def times(
    calls: list[Call | None], seconds: float, clock: Callable[[], float]
) -> list[float | None]:
    """The median microseconds of each, in turns."""
    found: list[list[float]] = [[] for _ in calls]
    end = time.perf_counter() + seconds
    while not found[0] or time.perf_counter() < end:
        for call, own in zip(calls, found, strict=True):
            if call is not None:
                start = clock()
                call()
                own.append((clock() - start) * 1e6)
    return [median(own) if own else None for own in found]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument(
        "--clock",
        choices=("wall", "processor"),
        default="wall",
        help="the second on a machine that others use, with one thread",
    )
    clock = {"wall": time.perf_counter, "processor": time.process_time}
    chosen = parser.parse_args()
    taeda, torch, sparse = (_library(name) for name in ("taeda", "torch", "scipy.sparse"))
    for lib in (taeda, torch):
        if lib is not None:
            lib.set_num_threads(chosen.threads)
    print(
        f"{'microseconds':60} {'taeda':>10} {'torch':>10} {'scipy':>10} {'/torch':>7} {'/scipy':>7}"
    )
    for name, tensors, arrays in cases():
        calls = [_prepared(tensors, taeda), _prepared(tensors, torch), _prepared(arrays, sparse)]
        own, *others = times(calls, chosen.seconds, clock[chosen.clock])
        texts = [f"{t:10.1f}" if t else f"{'-':>10}" for t in (own, *others)]
        ratios = [f"{own / t:7.2f}" if own and t else f"{'-':>7}" for t in others]
        print(f"{name:60} {' '.join(texts)} {' '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
