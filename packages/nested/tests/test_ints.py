"""Sizes of ragged dimensions: one for each tensor of offsets."""

from __future__ import annotations

import taeda
from taeda.nested._ints import _known, size_for


def test_offsets_have_one_size_for_as_long_as_they_live():
    offsets, others = taeda.tensor([0, 2]), taeda.tensor([0, 2])
    size = size_for(offsets)
    assert (
        size_for(offsets) is size and size_for(others) != size and size_for(None) != size_for(None)
    )
    assert str(size).startswith("j") and repr(taeda.Size([2, size])) == f"taeda.Size([2, {size}])"
    key = id(offsets)
    assert key in _known
    del offsets
    assert key not in _known
