"""What is put back after a call that raised."""

from __future__ import annotations

import taeda
from taeda.compiler._replay.undo import Undo


def test_contents_versions_and_states():
    a = taeda.arange(6.0).view(2, 3)
    row, own = a[1], taeda.Generator().manual_seed(3)
    state, version = own.get_state(), a._version
    undo = Undo([a, row], [own])
    a.mul_(2)
    row.add_(1)
    taeda.rand(2, generator=own)
    undo.put_back()
    assert a.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert a._version == row._version == version
    assert own.get_state().equal(state)


def test_twice_and_with_gradients():
    w = taeda.ones(2, requires_grad=True)
    saved = (w * w).sum()  # keeps w at its version
    undo = Undo([w], [])
    for _ in range(2):
        with taeda.no_grad():
            w.fill_(7)
        undo.put_back()
    saved.backward()
    assert w.grad.tolist() == [2.0, 2.0]
