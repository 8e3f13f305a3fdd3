"""Sparse, nested, masked, named and quantized tensors for the fuzzers of calls and of parts."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import taeda

__all__ = ["KINDS", "SHARE", "drawn_kind", "of_kind"]

#: by which a call's tensors may be of another kind
KINDS = (
    "coo", "uncoalesced", "hybrid", "csr", "csc", "bsr", "bsc", "batched", "halves", "jagged", "jagged",
    "holes", "ragged", "masked", "named", "named", "quantized", "channels",
)  # fmt: skip
#: how many calls have tensors of another kind; children of a fuzzer read it, too
SHARE = float(os.environ.get("TAEDA_FUZZ_KINDS", "0.15"))


def drawn_kind(random: Random, share: float = SHARE) -> str:
    """The kind of most tensors of a call; "" for a call of plain ones."""
    return random.choice(KINDS) if random.random() < share else ""


def of_kind(x: taeda.Tensor, near: Any, random: Random) -> taeda.Tensor:
    """The tensor as one of `near.kind`, or as it is where that kind does not fit."""
    if near.kind in ("jagged", "holes", "ragged"):
        return _nested(x, near, random)
    if near.kind in ("quantized", "channels"):
        return _quantized(x, near.kind, random)
    if near.kind == "named":
        return _named(x, random)
    if near.kind == "masked":
        mask = taeda.ones(x.shape, dtype=taeda.bool, device=x.device)
        return taeda.masked.masked_tensor(x, mask.tril() if x.dim() > 1 else mask)
    return _sparse(x, near.kind, random)


def _sparse(x: taeda.Tensor, kind: str, random: Random) -> taeda.Tensor:
    if kind == "coo":
        return x.to_sparse() if x.dim() else x
    if kind == "hybrid":
        return x.to_sparse(random.randint(1, x.dim() - 1)) if x.dim() > 1 else x
    if kind == "uncoalesced":
        return _twice(x.to_sparse()) if x.dim() else x
    if kind == "halves":
        return _halves(x)
    if x.dim() < 2 or not x.numel() or (kind != "batched" and x.dim() > 2):
        return x
    if kind == "batched":
        x = taeda.where(x[:1] != 0, x, 0) if x.dim() > 2 else x
        return x.to_sparse_csr() if _even(x) else x
    ways = {"csr": x.to_sparse_csr, "csc": x.to_sparse_csc, "bsr": lambda: x.to_sparse_bsr((1, 1)),
            "bsc": lambda: x.to_sparse_bsc((1, 1))}  # fmt: skip
    return ways[kind]()


def _twice(x: taeda.Tensor) -> taeda.Tensor:
    """The same places stored twice, and not in order."""
    indices, values = x._indices(), x._values()
    places = taeda.cat([indices, indices.flip(1)], 1)
    stored = taeda.cat([values, values.flip(0)])
    return taeda.sparse_coo_tensor(places, stored, x.shape)


def _halves(x: taeda.Tensor) -> taeda.Tensor:
    """A 2:4 matrix, where shape and dtype allow one."""
    if x.dim() != 2 or x.device.type != "cpu" or x.dtype not in (taeda.float16, taeda.bfloat16):
        return x
    rows, columns = (max(1, -(-size // 64)) * 64 for size in x.shape)
    mask = taeda.tensor([True, False, False, True]).repeat(columns // 4)
    padded = taeda.nn.functional.pad(x, (0, columns - x.shape[1], 0, rows - x.shape[0]))
    return taeda.sparse.to_sparse_semi_structured(padded.masked_fill(~mask, 0))


def _even(x: taeda.Tensor) -> bool:
    """Whether all matrices of a batch store as many numbers."""
    counts = (x != 0).flatten(0, -3).sum((-2, -1)).tolist() if x.dim() > 2 else [0]
    return len(set(counts)) == 1


def _nested(x: taeda.Tensor, near: Any, random: Random) -> taeda.Tensor:
    if x.dim() < 2 or x.dim() > 63:  # its batch is one dimension more
        return x
    if near.kind == "holes" and x.shape[1]:
        length = taeda.tensor([random.randint(0, x.shape[1]) for _ in range(x.shape[0])])
        return taeda.nested.narrow(x, 1, 0, length.long(), layout=taeda.jagged)
    if near.kind == "ragged":  # the strided layout: tensors that may differ in every size
        parts = [row[: random.randint(0, row.shape[0])] for row in x]
        return taeda.nested.nested_tensor(parts, layout=taeda.strided) if parts else x
    return taeda.nested.nested_tensor_from_jagged(x, _offsets(x.shape[0], near, random))


def _offsets(rows: int, near: Any, random: Random) -> taeda.Tensor:
    """Offsets for so many rows, mostly those that another tensor of the call has."""
    known = [offsets for count, offsets in near.offsets if count == rows]
    if known and random.random() < 0.9:
        return known[0]
    made = taeda.tensor(sorted([0, random.randint(0, rows), random.randint(0, rows), rows]))
    near.offsets.append((rows, made))
    return made


def _quantized(x: taeda.Tensor, kind: str, random: Random) -> taeda.Tensor:
    if not x.is_floating_point() or x.device.type != "cpu":
        return x
    dtype = random.choice((taeda.quint8, taeda.qint8, taeda.qint32))
    if kind == "quantized" or x.dim() == 0:
        return taeda.quantize_per_tensor(x.float(), 0.1, 3, dtype)
    axis = random.randrange(x.dim())
    scales = taeda.linspace(0.1, 1.0, x.shape[axis], dtype=taeda.float64)
    zeros = taeda.zeros(x.shape[axis], dtype=taeda.int64)
    return taeda.quantize_per_channel(x.float(), scales, zeros, axis, dtype)


def _named(x: taeda.Tensor, random: Random) -> taeda.Tensor:
    """Names from the right, as tensors that go together have them; some away, a few in another order."""
    letters = [f"n{d}" for d in range(x.dim(), 0, -1)]
    if random.random() < 0.1:
        random.shuffle(letters)
    return (
        x.rename(*(name if random.random() < 0.8 else None for name in letters)) if letters else x
    )
