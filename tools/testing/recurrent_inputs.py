"""Inputs of the recurrent kernels."""

from __future__ import annotations

import taeda


def inputs(steps, rows, units, dtype=taeda.float64):
    """Of an LSTM: share, hidden state, cell, weight."""
    g = taeda.Generator().manual_seed(3)
    shapes = (steps, rows, 4 * units), (rows, units), (rows, units), (4 * units, units)
    return [taeda.randn(*s, generator=g, dtype=dtype).requires_grad_() for s in shapes]


def others(steps, rows, units, gates):
    """(share, hidden, weight, bias of the last gate)"""
    g = taeda.Generator().manual_seed(5)
    shapes = (steps, rows, gates * units), (rows, units), (gates * units, units), (units,)
    return [taeda.randn(*s, generator=g, dtype=taeda.float64).requires_grad_() for s in shapes]
