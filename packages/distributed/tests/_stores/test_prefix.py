"""A part of a store."""

from __future__ import annotations

import taeda.distributed as dist


def test_a_store_of_ones_own():
    class Mine(dist.HashStore):
        def set(self, key, value):
            super().set(key, value)
            self.last = key

    mine = Mine()
    dist.PrefixStore("p", mine).set("k", "v")
    assert mine.last == "p/k"
