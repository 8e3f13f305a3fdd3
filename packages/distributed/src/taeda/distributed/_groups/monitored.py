"""A barrier through the store, so that who is missing can be named, and the group stays usable."""

from __future__ import annotations

import json
import time
from datetime import timedelta

from .._errors import DistNetworkError, DistStoreError
from .group import ProcessGroup

__all__ = ["meet_by_store"]

_GRACE = 5.0  # seconds that the others give the first rank to speak its verdict


def meet_by_store(group: ProcessGroup, seconds: float, all_ranks: bool) -> list[int]:
    """The ranks of the default group that did not come in time: the first of them, or all.
    Every rank gets one answer.
    """
    store = group.store
    assert store is not None
    turn = group._barriers = group._barriers + 1
    if group.rank() == 0:
        store.set(f"monitored/{turn}/0", "here")
        missing = _missing(group, turn, seconds, all_ranks)
        store.set(f"monitored/{turn}/verdict", json.dumps([group._ranks[n] for n in missing]))
        _wait_for_readers(group, turn, missing)
        return [group._ranks[number] for number in missing]
    try:
        return _hear_verdict(group, turn, seconds)
    except (DistStoreError, DistNetworkError):  # it said nothing, or its machine is out of reach
        return [group._ranks[0]]


def _hear_verdict(group: ProcessGroup, turn: int, seconds: float) -> list[int]:
    """What the first rank says. DistStoreError, DistNetworkError if it does not."""
    store, verdict = group.store, f"monitored/{turn}/verdict"
    assert store is not None
    store.set(f"monitored/{turn}/{group.rank()}", "here")
    store.wait([verdict], timedelta(seconds=seconds + _GRACE))
    found: list[int] = json.loads(store.get(verdict))
    store.add(f"monitored/{turn}/read", 1)
    return found


def _wait_for_readers(group: ProcessGroup, turn: int, missing: list[int]) -> None:
    """The first rank mostly serves the store: it must not leave before the others have read its verdict."""
    store, until = group.store, time.monotonic() + _GRACE
    assert store is not None
    readers = group.size() - 1 - len(missing)
    while store.add(f"monitored/{turn}/read", 0) < readers and time.monotonic() < until:
        time.sleep(0.001)
    if not missing:
        store.delete_key(f"monitored/{turn}/verdict")
        store.delete_key(f"monitored/{turn}/read")


def _missing(group: ProcessGroup, turn: int, seconds: float, all_ranks: bool) -> list[int]:
    store, until = group.store, time.monotonic() + seconds
    assert store is not None
    absent = []
    for number in range(1, group.size()):
        left = max(until - time.monotonic(), 0.001)
        key = f"monitored/{turn}/{number}"
        try:
            store.wait([key], timedelta(seconds=left))
            store.delete_key(key)
        except DistStoreError:
            absent.append(number)
            if not all_ranks:
                break
    return absent
