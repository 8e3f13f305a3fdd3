"""Chains of elementwise operators that were compiled as one function: which there are, from what
text, and where such functions are kept.
"""

from __future__ import annotations

from taeda._device_text.chains import expanded, row
from taeda._io.atomic import atomic_write
from taeda._io.cache_place import cache_place
from taeda._native.core import (
    arg_kinds,
    chain_states,
    dtype_numbers,
    get_asked_chains,
    get_chain,
    give_chain,
    listen_for_chains,
    max_args,
)

__all__ = [
    "arg_kinds",
    "atomic_write",
    "cache_place",
    "chain_states",
    "dtype_numbers",
    "expanded",
    "get_asked_chains",
    "get_chain",
    "give_chain",
    "listen_for_chains",
    "max_args",
    "row",
]
