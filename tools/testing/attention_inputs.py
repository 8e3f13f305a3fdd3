"""Queries, keys and values, and functions of positions, for the tests of attention."""

from __future__ import annotations

import taeda


def inputs(length=6, keys=6, heads=2, of_keys=2):
    """Random ones for a batch of two, in double precision."""
    taeda.manual_seed(0)
    made = (
        taeda.randn(2, heads, length, 4),
        taeda.randn(2, of_keys, keys, 4),
        taeda.randn(2, of_keys, keys, 3),
    )
    return tuple(t.double() for t in made)


def causal(b, h, q_idx, kv_idx):
    """A position sees itself and those before."""
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    """A position sees itself and its neighbours."""
    return (q_idx - kv_idx).abs() <= 1
