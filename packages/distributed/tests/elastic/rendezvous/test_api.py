"""Parameters of a rendezvous."""

from __future__ import annotations

import pytest

import taeda.distributed as dist
from taeda.distributed.elastic.rendezvous import (
    RendezvousParameters,
    RendezvousStoreInfo,
)


def test_parameters():
    params = RendezvousParameters("static", "host:1", "job", 1, 2, flag="yes", count="3")
    assert (
        params.get_as_bool("flag") is True
        and params.get_as_int("count") == 3
        and params.get("no", 5) == 5
    )
    with pytest.raises(ValueError, match="number"):
        params.get_as_int("flag")
    for wrong in (
        ("", "h", "j", 1, 1),
        ("b", "h", "", 1, 1),
        ("b", "h", "j", 0, 1),
        ("b", "h", "j", 2, 1),
    ):
        with pytest.raises(ValueError):
            RendezvousParameters(*wrong)
    store = dist.HashStore()
    info = RendezvousStoreInfo.build(0, store, "10.0.0.1", 5)
    assert RendezvousStoreInfo.build(1, store) == info == RendezvousStoreInfo("10.0.0.1", 5)
