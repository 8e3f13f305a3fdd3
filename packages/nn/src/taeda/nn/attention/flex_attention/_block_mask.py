"""A mask by blocks: which blocks of keys each block of queries meets in part, and which in full.

For each block of queries, `kv_indices` lists the blocks of keys, those that count first, and
`kv_num_blocks` says how many count; the same from the side of the keys in `q_indices`. Blocks
without a hidden place stand in the `full_` lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda import Tensor

from ._mods import Mod, Span, call_mask, create_mask, noop_mask

__all__ = ["BlockMask", "create_block_mask"]

_LISTS = ("kv_num_blocks", "kv_indices", "full_kv_num_blocks", "full_kv_indices",
          "q_num_blocks", "q_indices", "full_q_num_blocks", "full_q_indices")  # fmt: skip


class BlockMask:
    """Made by `create_block_mask` or `from_kv_blocks`; goes to `flex_attention(block_mask=...)`.

    >>> from taeda.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, device="cpu")
    >>> mask.shape, mask.sparsity()
    ((1, 1, 256, 256), 25.0)
    """

    kv_num_blocks: Tensor
    kv_indices: Tensor
    full_kv_num_blocks: Tensor | None
    full_kv_indices: Tensor | None
    q_num_blocks: Tensor | None
    q_indices: Tensor | None
    full_q_num_blocks: Tensor | None
    full_q_indices: Tensor | None

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (128, 128),
        mask_mod: Mod = noop_mask,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError(
                "full_kv_num_blocks and full_kv_indices must be both given or both left out"
            )
        given = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices,
                 q_num_blocks, q_indices, full_q_num_blocks, full_q_indices)  # fmt: skip
        for name, value in zip(_LISTS, given, strict=True):
            setattr(self, name, value)
        self.seq_lengths, self.BLOCK_SIZE, self.mask_mod = seq_lengths, BLOCK_SIZE, mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: Mod | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> Self:
        """From the lists of one side; the other side follows. Lengths are whole blocks if none are given.

        RuntimeError for lists of fewer than two dimensions, AssertionError if one full list is missing.
        """
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        q_side: Any = [None] * 4
        if compute_q_blocks:
            q_side[:2] = _turned(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                q_side[2:] = _turned(full_kv_num_blocks, full_kv_indices)
        if seq_lengths is None:
            seq_lengths = kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1]
        given = (kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *q_side)
        lists: dict[str, Any] = dict(zip(_LISTS, given, strict=True))
        return cls(seq_lengths, **lists, BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    def _lists(self) -> tuple[Tensor | None, ...]:
        return tuple(getattr(self, name) for name in _LISTS)

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """Lengths, lists, block sizes and mask function; pairs are taken apart with `flatten`."""
        lists = self._lists()
        if flatten:
            return (*self.seq_lengths, *lists, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *lists, self.BLOCK_SIZE, self.mask_mod)

    @property
    def shape(self) -> tuple[int, ...]:
        """Batch dimensions, and the lengths of queries and keys."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """Places of the whole mask."""
        return int(taeda.Size(self.shape).numel())

    def sparsity(self) -> float:
        """Percentage of places in blocks that need no work."""
        blocks = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            blocks += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """1 for every block that counts: int32 (..., blocks of queries, blocks of keys)."""
        return _dense_of(self._lists()[:4])

    def to(self, device: Any) -> BlockMask:
        """The same mask on another device."""
        lists = zip(_LISTS, self._lists(), strict=True)
        moved: dict[str, Any] = {name: None if v is None else v.to(device) for name, v in lists}
        return BlockMask(
            self.seq_lengths, **moved, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod
        )

    def __getitem__(self, index: Any) -> Self:
        """The mask of some batches and heads; an int keeps its dimension."""
        items = index if isinstance(index, tuple) else (index,)
        keys = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in items)
        lists = zip(_LISTS[:4], self._lists()[:4], strict=True)
        part: dict[str, Any] = {name: None if v is None else v[keys] for name, v in lists}
        return self.from_kv_blocks(
            **part,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def visible(self, batch: int, heads: int, rows: Span, columns: Span) -> Tensor:
        """Which of some places count, bool, for `flex_attention`: part blocks where the mask
        function says so, full ones whole.
        """
        spans = [Span(0, batch), Span(0, heads), rows, columns]
        inside = call_mask(self.mask_mod, spans, self.kv_indices.device)
        part = self._places(_dense(self.kv_num_blocks, self.kv_indices), rows, columns)
        made = part & inside
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            full = _dense(self.full_kv_num_blocks, self.full_kv_indices)
            made = made | self._places(full, rows, columns)
        return made

    def seen(self) -> list[Span]:
        """For each block of queries the keys from the first to the last block that one of its
        batches and heads sees; of nothing, the first block. Waits for a device.
        """
        return _seen(self._lists()[:4], self.BLOCK_SIZE[1], self.seq_lengths[1])

    def _places(self, blocks: Tensor, rows: Span, columns: Span) -> Tensor:
        high, wide = self.BLOCK_SIZE
        i, k = rows.start // high, columns.start // wide
        some = blocks[..., i : -(-rows.stop // high), k : -(-columns.stop // wide)].bool()
        whole = some.repeat_interleave(high, -2).repeat_interleave(wide, -1)
        top, left = rows.start - i * high, columns.start - k * wide
        return whole[
            ..., top : top + rows.stop - rows.start, left : left + columns.stop - columns.start
        ]

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of each batch and head, `limit` at most: full, in part (by any block under a
        cell), or empty; -1 draws all blocks.
        """
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        part, full = self.to_dense(), taeda.zeros_like(self.to_dense())
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            full = _dense(self.full_kv_num_blocks, self.full_kv_indices)
        grids = [*zip(part.flatten(0, -3), full.flatten(0, -3), strict=True)]
        texts = [f"({n})\n{_drawn(*grid, most)}" for n, grid in enumerate(grids[:limit])]
        return "\n".join([*texts, *(["..."] if len(grids) > limit else [])])

    def __str__(self) -> str:
        return (
            f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%,\n{self.to_string()}\n)"
        )

    def __repr__(self) -> str:
        lists = ((name, getattr(self, name)) for name in _LISTS)
        rows = [f"    {name}={None if v is None else v.shape},\n" for name, v in lists]
        return (
            f"BlockMask(\n{''.join(rows)}    BLOCK_SIZE={self.BLOCK_SIZE},\n    "
            f"shape={self.shape},\n    sparsity={self.sparsity():.2f}%,\n)"
        )


def create_block_mask(
    mask_mod: Callable[..., Tensor],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = 128,
) -> BlockMask:
    """The mask of a function of (b, h, q_idx, kv_idx), by blocks. None for B or H: it does not depend on it.

    TypeError for what cannot be called, ValueError for another number of arguments.

    >>> mask = create_block_mask(lambda b, h, q, kv: q >= kv, None, None, 4, 4, BLOCK_SIZE=2)
    >>> mask.to_dense()[0, 0].tolist()
    [[1, 0], [1, 1]]
    """
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    padded = taeda.nn.functional.pad(
        mask.to(taeda.int32), (0, -KV_LEN % size[1], 0, -Q_LEN % size[0])
    )
    rows, columns = padded.shape[-2] // size[0], padded.shape[-1] // size[1]
    counts = padded.reshape(*padded.shape[:2], rows, size[0], columns, size[1]).sum((-3, -1))
    full = counts == size[0] * size[1]
    lists = (*_ordered((counts > 0) & ~full), *_ordered(full))
    return BlockMask.from_kv_blocks(
        *lists, BLOCK_SIZE=size, mask_mod=mask_mod, seq_lengths=(Q_LEN, KV_LEN)
    )


def _rindex(blocks: list[bool]) -> int:
    """The last True."""
    return len(blocks) - 1 - blocks[::-1].index(True)


def _ordered(dense: Tensor) -> tuple[Tensor, Tensor]:
    """(how many blocks count in each row, all blocks with those that count first)"""
    dense = dense.to(taeda.int32)
    order = taeda.argsort(dense, dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(taeda.int32), order.to(taeda.int32).contiguous()


def _seen(lists: tuple[Tensor | None, ...], width: int, last: int) -> list[Span]:
    """See `BlockMask.seen`: of the first four lists, the width of a block and the number of keys."""
    dense = _dense_of(lists).flatten(0, -3).any(0)
    return [
        Span(blocks.index(True) * width, min((_rindex(blocks) + 1) * width, last))
        if True in blocks
        else Span(0, min(width, last))
        for blocks in dense.tolist()
    ]


# a compiled function may keep what it gives for tensors that hold what they held
_seen.__taeda_of_values__ = True  # type: ignore[attr-defined]


def _dense_of(lists: tuple[Any, ...]) -> Tensor:
    part, parts, full, fulls = lists
    made = _dense(part, parts)
    return made if full is None or fulls is None else made | _dense(full, fulls)


def _dense(count: Tensor, order: Tensor) -> Tensor:
    columns = order.shape[-1]
    counts = taeda.arange(columns, device=order.device) < count.unsqueeze(-1)
    return taeda.zeros_like(order).scatter(-1, order.to(taeda.int64), counts.to(order.dtype))


def _turned(count: Tensor, order: Tensor) -> tuple[Tensor, Tensor]:
    return _ordered(_dense(count, order).mT)


def _drawn(some: Tensor, full: Tensor, most: tuple[int, int]) -> str:
    rows, columns = some.shape
    high, wide = (
        max(1, -(-n // m)) if m > 0 else 1 for n, m in zip((rows, columns), most, strict=True)
    )

    def cell(i: int, k: int) -> str:
        place = slice(i, i + high), slice(k, k + wide)
        if not some[place].any():
            return "  "
        return "██" if full[place].all() else "░░"

    return "\n".join(
        "".join(cell(i, k) for k in range(0, columns, wide)) for i in range(0, rows, high)
    )
