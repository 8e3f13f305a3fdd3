"""Functions of positions: calling them, joining them, the masks that they mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import taeda
from taeda import Tensor

__all__ = [
    "Mod",
    "Span",
    "and_masks",
    "call_mask",
    "call_score",
    "create_mask",
    "noop_mask",
    "or_masks",
]

Mod = Callable[..., Tensor]


class Span(NamedTuple):
    """Places start to stop - 1 of a sequence."""

    start: int
    stop: int


def noop_mask(batch: Tensor, head: Tensor, token_q: Tensor, token_kv: Tensor) -> Tensor:
    """True everywhere.

    >>> from taeda.nn.attention.flex_attention import create_mask, noop_mask
    >>> bool(create_mask(noop_mask, 1, 1, 3, 3, device="cpu").all())
    True
    """
    return batch.new_ones(size=(), dtype=taeda.bool, device=batch.device)


def _positions(spans: list[Span], device: Any) -> list[Tensor]:
    """Batch, head, query and key index, each along its own dimension of four."""
    ranges = (taeda.arange(s.start, s.stop, device=device) for s in spans)
    return [r.reshape([-1 if i == k else 1 for k in range(4)]) for i, r in enumerate(ranges)]


def call_mask(mod: Mod, spans: list[Span], device: Any) -> Tensor:
    """What a mask function says at the places of four spans: bool (B, H, L, S)."""
    said = mod(*_positions(spans, device))
    shape = [s.stop - s.start for s in spans]
    return taeda.as_tensor(said, device=device).to(taeda.bool).expand(shape)


def call_score(mod: Mod, scores: Tensor, rows: Span, columns: Span) -> Tensor:
    """What a score function makes of the scores (B, H, L, S) of some queries and keys."""
    spans = [Span(0, scores.shape[0]), Span(0, scores.shape[1]), rows, columns]
    return mod(scores, *_positions(spans, scores.device)).expand(scores.shape)


def _check(mods: tuple[Any, ...]) -> None:
    if not all(callable(mod) for mod in mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mods}")


def and_masks(*mask_mods: Mod) -> Mod:
    """The mask function that is True where all are. RuntimeError for what cannot be called.

    >>> from taeda.nn.attention.flex_attention import and_masks, create_mask
    >>> causal, near = lambda b, h, i, j: i >= j, lambda b, h, i, j: i - j < 2
    >>> create_mask(and_masks(causal, near), 1, 1, 3, 3, device="cpu")[0, 0]
    tensor([[ True, False, False],
            [ True,  True, False],
            [False,  True,  True]])
    """
    _check(mask_mods)

    def all_of(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        made = noop_mask(b, h, q_idx, kv_idx)
        for mod in mask_mods:
            made = made & mod(b, h, q_idx, kv_idx)
        return made

    return all_of


def or_masks(*mask_mods: Mod) -> Mod:
    """The mask function that is True where one is. RuntimeError for what cannot be called.

    >>> from taeda.nn.attention.flex_attention import create_mask, or_masks
    >>> causal, first = lambda b, h, i, j: i >= j, lambda b, h, i, j: j == 0
    >>> create_mask(or_masks(causal, first), 1, 1, 3, 3, device="cpu")[0, 0]
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    """
    _check(mask_mods)

    def any_of(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        made = ~noop_mask(b, h, q_idx, kv_idx)
        for mod in mask_mods:
            made = made | mod(b, h, q_idx, kv_idx)
        return made

    return any_of


def create_mask(
    mod_fn: Mod, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None
) -> Tensor:
    """The mask (B, H, Q_LEN, KV_LEN), bool, of a mask function of four arguments, or of a score
    function of five.

    A score function masks where it gives -inf. None for B or H means that the mask does not depend on it: 1.
    TypeError for what cannot be called, ValueError for another number of arguments.

    >>> create_mask(lambda b, h, q, kv: q >= kv, None, None, 2, 2)[0, 0].tolist()
    [[True, False], [True, True]]
    """
    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    if not callable(mod_fn):
        raise TypeError(f"wanted a mask or score function, got {type(mod_fn).__name__}")
    count = _positional(mod_fn)
    if count == 5:
        zeros = taeda.zeros(shape, device=device)
        return ~call_score(mod_fn, zeros, Span(0, Q_LEN), Span(0, KV_LEN)).isneginf()
    if count != 4:
        raise ValueError(
            "a mask function takes (b, h, q_idx, kv_idx), a score function a score before them; "
            f"this one takes {count}"
        )
    spans = [Span(0, n) for n in shape]
    return call_mask(mod_fn, spans, taeda.get_default_device() if device is None else device)


def _positional(function: Mod) -> int:
    parameters = inspect.signature(function).parameters.values()
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in parameters
    )
