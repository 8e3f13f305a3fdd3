"""CUDA devices. Nothing is opened before it is used; without a driver or a device every question
has an answer and the rest says why not.
"""

from __future__ import annotations

from pkgutil import extend_path

from taeda._native import core as _core
from taeda._parts import lazy_attributes

from ._devices import (
    can_device_access_peer,
    cudart,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    get_sync_debug_mode,
    init,
    ipc_collect,
    is_available,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
    set_device,
    set_sync_debug_mode,
    synchronize,
)
from ._random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from ._sensors import (
    clock_rate,
    device_memory_used,
    list_gpu_processes,
    memory_usage,
    power_draw,
    temperature,
    utilization,
)
from ._streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    get_stream_from_external,
    set_stream,
    stream,
)
from .memory import (
    CUDAPluggableAllocator,
    MemPool,
    caching_allocator_alloc,
    caching_allocator_delete,
    caching_allocator_enable,
    change_current_allocator,
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
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_accumulated_host_memory_stats,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_host_memory_stats,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
    use_mem_pool,
)

__path__ = extend_path(__path__, __name__)  # taeda-amp brings `amp`
_LATER = {
    "comm": "cuda.comm:",
    "current_blas_handle": "cuda._blas",
    "nvtx": "cuda.nvtx:",
    "profiler": "cuda.profiler:",
    "random": "cuda.random:",
    "streams": "cuda.streams:",
    **dict.fromkeys(
        (
            "BFloat16Tensor",
            "BoolTensor",
            "ByteTensor",
            "CharTensor",
            "DoubleTensor",
            "FloatTensor",
            "HalfTensor",
            "IntTensor",
            "LongTensor",
            "ShortTensor",
        ),
        "cuda._typed",
    ),
}
__getattr__, __dir__ = lazy_attributes(__name__, _LATER)

OutOfMemoryError = _core.OutOfMemoryError
__all__ = [
    "CUDAPluggableAllocator", "Event", "ExternalStream", "MemPool", "OutOfMemoryError",
    "Stream", "StreamContext", "caching_allocator_alloc", "caching_allocator_delete",
    "caching_allocator_enable", "can_device_access_peer", "change_current_allocator",
    "clock_rate", "cudart", "current_blas_handle", "current_device", "current_stream",
    "default_stream", "device", "device_count", "device_memory_used", "device_of", "empty_cache",
    "get_allocator_backend", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties", "get_gencode_flags", "get_per_process_memory_fraction", "get_rng_state",
    "get_rng_state_all", "get_stream_from_external", "get_sync_debug_mode", "host_memory_stats",
    "init", "initial_seed", "ipc_collect", "is_available", "is_bf16_supported", "is_initialized",
    "is_tf32_supported", "list_gpu_processes", "manual_seed", "manual_seed_all",
    "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_cached", "memory_reserved", "memory_snapshot", "memory_stats",
    "memory_summary", "memory_usage", "power_draw", "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "reset_peak_host_memory_stats", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all", "set_stream",
    "set_sync_debug_mode", "stream", "synchronize", "temperature", "use_mem_pool",
    "utilization",
]  # fmt: skip
