"""Collectives on tensors. Every process of the group must call the same one, in the same order.

Each returns None when its outputs are there, or with `async_op` a Work at once. In a process that
is not in the group nothing happens. What differs between ranks (name, dtype, shape, root,
reduction) raises DistMismatchError on all of them before anything is moved; a rank that is missing
raises DistPeerDiedError or DistTimeoutError on the others.
"""

from __future__ import annotations

from .barriers import barrier, monitored_barrier
from .copies import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    broadcast,
    gather,
    scatter,
)
from .exchanges import all_to_all, all_to_all_single
from .reductions import (
    all_reduce,
    all_reduce_coalesced,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
)

__all__ = [
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "broadcast",
    "gather",
    "monitored_barrier",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
]
