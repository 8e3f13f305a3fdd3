"""Memory of devices: `taeda.cuda` has most of these names, too.

`_record_memory_history`, `_snapshot` and `_dump_snapshot` are for viewers of memory snapshots.
"""

from __future__ import annotations

from ._memory import (
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_enable,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    host_memory_stats,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from ._memory import set_allocator_settings as _set_allocator_settings
from ._pools import CUDAPluggableAllocator, MemPool, change_current_allocator, use_mem_pool
from ._snapshot import dump_snapshot as _dump_snapshot
from ._snapshot import memory_snapshot
from ._snapshot import record_memory_history as _record_memory_history
from ._snapshot import snapshot as _snapshot
from ._summary import memory_summary

__all__ = [
    "CUDAPluggableAllocator", "MemPool", "_dump_snapshot", "_record_memory_history",
    "_set_allocator_settings", "_snapshot", "caching_allocator_alloc", "caching_allocator_delete",
    "caching_allocator_enable", "change_current_allocator", "empty_cache", "get_allocator_backend",
    "get_per_process_memory_fraction", "host_memory_stats", "max_memory_allocated",
    "max_memory_cached", "max_memory_reserved", "mem_get_info", "memory_allocated",
    "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats", "memory_summary",
    "reset_accumulated_host_memory_stats", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_host_memory_stats",
    "reset_peak_memory_stats", "set_per_process_memory_fraction", "use_mem_pool",
]  # fmt: skip
