"""rotary-embedding-torch: queries and keys turned, on lines and on planes."""

from __future__ import annotations

from typing import Any

from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

from .given import normal


def turns() -> Any:
    turn = RotaryEmbedding(dim=8, use_xpos=False)
    q, k = normal(1, 2, 6, 16).requires_grad_(), normal(1, 2, 6, 16)
    found = [turn.rotate_queries_or_keys(q), *turn.rotate_queries_with_cached_keys(q[:, :, -1:], k)]
    found[0].square().sum().backward()
    plane = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=16)
    return [*found, q.grad, apply_rotary_emb(plane.get_axial_freqs(3, 2), normal(1, 3, 2, 32))]


def turns_by_xpos() -> Any:
    turn = RotaryEmbedding(dim=8, use_xpos=True)
    return turn.rotate_queries_and_keys(normal(1, 2, 6, 16), normal(1, 2, 6, 16))
