"""Random walks of a tensor through sparse layouts, and what they have to come to.

A walk is data: numbers, and steps by name. It runs in taeda, and where torch is installed in torch as well.
`parts` says in plain Python what a layout holds of a strided tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, product
from random import Random
from typing import Any

__all__ = ["Walk", "facts", "parts", "take", "walk"]

LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
BY_ROWS = ("sparse_csr", "sparse_bsr")
BLOCKED = ("sparse_bsr", "sparse_bsc")


@dataclass(frozen=True)
class Walk:
    """Numbers of a shape, row after row; how many dimensions are batches and dense; blocks; the layouts."""

    numbers: tuple[float, ...]
    shape: tuple[int, ...]
    batch: int
    dense: int
    block: tuple[int, int]
    layouts: tuple[str, ...]


def walk(seed: int) -> Walk:
    """The walk of a number. All matrices of a batch have blocks at equally many places."""
    random = Random(seed)
    block = random.choice((1, 2, 3)), random.choice((1, 2, 3))
    grid = random.choice((0, 1, 2, 3)), random.choice((1, 2, 4))
    batch = tuple(random.choice((1, 2, 3)) for _ in range(random.choice((0, 0, 1, 2))))
    dense = tuple(random.choice((1, 2)) for _ in range(random.choice((0, 0, 0, 1, 2))))
    matrix = grid[0] * block[0], grid[1] * block[1]
    kept = random.randint(0, grid[0] * grid[1])
    whole = random.random() < 0.5  # blocks without a zero: each number of them is an entry
    numbers: list[float] = []
    for _ in range(math.prod(batch)):
        places = {*random.sample([*product(*map(range, grid))], kept)}
        for row, col in product(*map(range, matrix)):
            there = (row // block[0], col // block[1]) in places
            there = there and (whole or (row % block[0], col % block[1]) == (0, 0))
            numbers += [random.choice((1.0, -2.0, 0.5)) * there for _ in range(math.prod(dense))]
    shape = (*batch, *matrix, *dense)
    steps = tuple(random.choice(LAYOUTS) for _ in range(random.randint(1, 5)))
    return Walk(tuple(numbers), shape, len(batch), len(dense), block, steps)


def take(library: Any, x: Any, given: Walk, layout: str) -> Any:
    """One step."""
    if layout == "strided":
        return x.to_dense()
    is_strided = x.layout is library.strided
    if layout == "sparse_coo":
        return x.to_sparse(given.batch + 2) if is_strided else x.to_sparse()
    more: Any = {"layout": getattr(library, layout)}
    more |= {"blocksize": given.block} if layout in BLOCKED else {}
    more |= {"dense_dim": given.dense} if is_strided else {}
    return x.to_sparse(**more)


def facts(x: Any) -> tuple[Any, ...]:
    """Layout, shape, and the parts as lists."""
    layout = str(x.layout).rpartition(".")[2]
    if layout == "strided":
        return layout, tuple(x.shape), x.tolist()
    if layout == "sparse_coo":
        x = x.coalesce()
        return layout, tuple(x.shape), x.indices().tolist(), x.values().tolist()
    if layout in BY_ROWS:
        first, second = x.crow_indices(), x.col_indices()
    else:
        first, second = x.ccol_indices(), x.row_indices()
    return layout, tuple(x.shape), first.tolist(), second.tolist(), x.values().tolist()


# ---- oracle ----


def parts(given: Walk, layout: str) -> list[tuple[list[int], list[int]]]:
    """For each matrix of the batch, the compressed and the plain indices of blocks with a number in it."""
    sizes = given.shape[given.batch : given.batch + 2]
    inner = math.prod(given.shape[given.batch + 2 :])
    height, width = given.block if layout in BLOCKED else (1, 1)
    found = []
    for at in range(math.prod(given.shape[: given.batch])):
        there = set()
        for number, (row, col) in enumerate(product(*map(range, sizes))):
            begin = (at * sizes[0] * sizes[1] + number) * inner
            if any(given.numbers[begin : begin + inner]):
                there.add((row // height, col // width))
        grid = sizes[0] // height, sizes[1] // width
        if layout not in BY_ROWS:
            there, grid = {(b, a) for a, b in there}, grid[::-1]
        found.append(_compressed(sorted(there), grid[0]))
    return found


def _compressed(places: list[tuple[int, int]], count: int) -> tuple[list[int], list[int]]:
    begins = [sum(major < n for major, _ in places) for n in range(count + 1)]
    assert all(a <= b for a, b in pairwise(begins))
    return begins, [minor for _, minor in places]
