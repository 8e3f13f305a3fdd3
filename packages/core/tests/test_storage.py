"""Storages as objects: bytes, elements of a dtype, conversions, buffers, and the old names."""

from __future__ import annotations

import taeda


def test_a_storage_of_a_tensor_is_its_memory():
    x = taeda.zeros(3)
    x.storage()[1] = 5
    x.storage().untyped()[0:4] = 0
    assert x.tolist() == [0, 5, 0]
    assert taeda.is_storage(x.storage())
    assert taeda.is_storage(x.untyped_storage())
