"""What ranks tell each other when they meet."""

from __future__ import annotations

from datetime import timedelta

import pytest

from taeda.distributed import DistStoreError, HashStore
from taeda.distributed._meeting.facts import Facts, meet, node_name


def test_everybodys_facts_come_in_the_order_asked_for():
    store, limit = HashStore(), timedelta(seconds=20)
    facts = {rank: Facts(100 + rank, f"node{rank}", "0/2") for rank in (0, 4)}
    with pytest.raises(DistStoreError, match="facts/4"):
        meet(store, 0, [0, 4], facts[0], timedelta(seconds=0.05))
    assert meet(store, 4, [4, 0], facts[4], limit) == [facts[4], facts[0]]
    assert meet(store, 0, [0, 4], facts[0], limit) == [facts[0], facts[4]]


def test_a_node_has_one_name():
    assert node_name() == node_name() and node_name().count("/") >= 2
    assert Facts(1, "a").mpi == ""
