"""Statistics and settings of the allocator of device memory, on the stand-in driver."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_statistics_have_every_key_and_add_up():
    standin.memory("""
a, b = make(0.5), make(30)
stats = cuda.memory_stats()
for name in ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes",
             "active_bytes", "inactive_split_bytes", "requested_bytes"):
    for column in ("current", "peak", "allocated", "freed"):
        small, large = stats[f"{name}.small_pool.{column}"], stats[f"{name}.large_pool.{column}"]
        if column != "peak":
            assert stats[f"{name}.all.{column}"] == small + large, name
for name in ("oversize_allocations.current", "oversize_segments.peak",
        "max_split_size", "num_alloc_retries", "num_ooms",
             "num_sync_all_streams", "num_device_alloc", "num_device_free"):
    assert name in stats
assert stats["max_split_size"] == -1 and stats["num_device_alloc"] == 2 == stats["segment.all.current"]
assert stats["inactive_split_bytes.small_pool.current"] == 1.5 * MIB
assert stats["segment.large_pool.current"] == 1 and stats["reserved_bytes.large_pool.current"] == 30 * MIB
del a, b
assert now("inactive_split.all.current") == 0, "whole segments are free, not split"
cuda.empty_cache()
assert now("num_device_free") == 2 and now("segment.all.freed") == 2 and cuda.memory_reserved() == 0
""")


@pytest.mark.parametrize(
    "name", ["TAEDA_CUDA_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"]
)
def test_sizes_are_rounded_as_the_settings_say(name):
    standin.memory(
        """
a = taeda.empty(1200 * MIB // 1024, dtype=taeda.uint8, device="cuda")     # 1200 KiB -> 1280
assert cuda.memory_allocated() == 1280 * 1024, cuda.memory_allocated()
b = make(5)                                     # of 4 MiB to 8 MiB: one part, the next power of two
assert cuda.memory_allocated() == 1280 * 1024 + 5 * MIB, cuda.memory_allocated()
c = make(9)                                     # above: halves of a power, 12
assert cuda.memory_allocated() == 1280 * 1024 + 17 * MIB, cuda.memory_allocated()
assert now("requested_bytes.all.current") == 1200 * 1024 + 14 * MIB
""",
        **{name: "roundup_power2_divisions:[1:4, 4:1, >:2]"},
    )


def test_large_blocks_stay_whole_as_the_settings_say():
    standin.memory(
        """
a = make(100)
place = a.data_ptr()
del a
b = make(40)                 # not large enough to share the block, nor to be served by it
assert b.data_ptr() != place and cuda.memory_reserved() == 140 * MIB
c = make(95)                 # within 20 MiB of the block: it serves, whole
assert c.data_ptr() == place and cuda.memory_allocated() == 140 * MIB
assert now("oversize_allocations.current") == 1 and now("oversize_segments.current") == 1
assert now("max_split_size") == 64 * MIB
del c
d = make(70)                 # 30 MiB too large
assert d.data_ptr() != place
cuda.memory._set_allocator_settings("max_split_size_mb:64,max_non_split_rounding_mb:40")
e = make(71)
assert e.data_ptr() == place
""",
        TAEDA_CUDA_ALLOC_CONF="max_split_size_mb:64",
    )


def test_unused_segments_go_back_over_the_threshold():
    standin.memory(
        """
small, old, new = make(0.1), make(200), make(150)
place = new.data_ptr()
del old
for _ in range(50): make(0.1)
del new                      # 352 MiB are held
x = make(220)                # 572 are over the half: what was not used for longest goes back
assert cuda.memory_reserved() == 372 * MIB and now("num_device_free") == 1 and now("num_alloc_retries") == 0
assert make(150).data_ptr() == place, "the younger one stayed"
""",
        TAEDA_CUDA_ALLOC_CONF="garbage_collection_threshold:0.5",
        TAEDA_NULL_MIB="1000",
    )


def test_the_driver_allocates_where_the_settings_ask():
    standin.memory(
        """
import ctypes, os
driver = ctypes.CDLL(os.environ["TAEDA_LIBCUDA"])
a = taeda.ones(1000, device="cuda")
assert cuda.get_allocator_backend() == "cudaMallocAsync" and driver.td_null_async_allocs() == 1
assert (a + 1).sum().item() == 2000
before = cuda.memory_reserved()
del a
assert cuda.memory_reserved() == before - 4096 and cuda.memory_allocated() == cuda.memory_reserved()
whole = [make(1000) for _ in range(4)]
refuses(taeda.OutOfMemoryError, ["1000.00 MiB"], lambda: make(1000))
del whole
make(3000)
cuda.empty_cache()
""",
        TAEDA_CUDA_ALLOC_CONF="backend:cudaMallocAsync",
    )


@pytest.mark.parametrize("name", ["TAEDA_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_CUDA_MEMORY_CACHING"])
def test_nothing_is_kept_without_caching(name):
    standin.memory(
        """
free = cuda.mem_get_info()[0]
a = taeda.ones(1000, device="cuda")
assert cuda.mem_get_info()[0] == free - 4096
del a
assert cuda.mem_get_info()[0] == free and now("num_device_free") >= 1
cuda.caching_allocator_enable()
b = make(1)
assert cuda.memory_reserved() == 2 * MIB
""",
        **{name: "1"},
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_split_size_mb", "'max_split_size_mb' is not key:value"),
        ("max_split_size_mb:20", "a whole number of MiB above 20"),
        ("max_split_size_mb:-3", "a whole number of MiB above 20"),
        ("max_split_size_mb:99999999999999999999", "a whole number of MiB above 20"),
        ("garbage_collection_threshold:1", "a number between 0 and 1"),
        ("garbage_collection_threshold:0.5x", "a number between 0 and 1"),
        ("garbage_collection_threshold:nan", "a number between 0 and 1"),
        ("roundup_power2_divisions:3", "a power of two"),
        ("roundup_power2_divisions:[256:1,128:2]", "sizes that grow"),
        ("roundup_power2_divisions:[256:1", "a power of two"),
        ("roundup_power2_divisions:[,]", "a power of two"),
        ("backend:fast", "native or cudaMallocAsync"),
        ("expandable_segments:True", "this allocator does not have it"),
        ("max_split_size:64", "is not known; there are backend, max_split_size_mb"),
        (":", "is not known"),
        ("backend:native,,", "not key:value"),
        ("x" * 600, "600 characters"),
    ],
)
def test_settings_that_are_not_understood_are_refused(text, words):
    standin.memory(
        f"""
refuses(ValueError, [{words!r}], lambda: taeda.ones(2, device="cuda"))
assert not cuda.is_initialized() and cuda.is_available()
refuses(ValueError, [{words!r}], lambda: cuda.memory._set_allocator_settings({text!r}))
cuda.memory._set_allocator_settings("expandable_segments:False")
""",
        PYTORCH_CUDA_ALLOC_CONF=text,
    )


def test_a_process_may_be_held_to_a_share():
    standin.memory("""
cuda.set_per_process_memory_fraction(0.5)
assert cuda.get_per_process_memory_fraction() == 0.5 and cuda.get_per_process_memory_fraction(1) == 1.0
a = make(2000)
refuses(
    taeda.OutOfMemoryError,
    ["limit of this process      2.00 GiB", "1.95 GiB", "in 1 blocks"],
    lambda: make(100),
)
b = make(3000, "cuda:1")
cuda.set_per_process_memory_fraction(1.0)
c = make(100)
refuses(ValueError, ["0~1"], lambda: cuda.set_per_process_memory_fraction(1.5))
refuses(TypeError, ["float"], lambda: cuda.set_per_process_memory_fraction("half"))
""")


def test_tensors_in_circles_go_before_memory_runs_out():
    standin.memory("""
gc.disable()
class Node: pass
def circle():
    node = Node()
    node.tensor, node.self = make(3000), node
circle()
x = make(3000)
assert now("num_ooms") == 0
""")


def test_memory_without_a_tensor():
    standin.memory("""
address = cuda.caching_allocator_alloc(1000)
assert cuda.memory_allocated() == 1024
s = cuda.Stream()
other = cuda.caching_allocator_alloc(1000, 0, s)
assert any(seg["stream"] == s.cuda_stream for seg in cuda.memory_snapshot())
cuda.caching_allocator_delete(address)
cuda.caching_allocator_delete(other)
assert cuda.memory_allocated() == 0
refuses(ValueError, ["no address that caching_allocator"], lambda: cuda.caching_allocator_delete(address))
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert (
        cuda.memory_cached() == cuda.memory_reserved()
        and cuda.max_memory_cached() == cuda.max_memory_reserved()
    )
    cuda.reset_max_memory_allocated(); cuda.reset_max_memory_cached()
assert [w.category for w in seen] == [FutureWarning] * 4
""")
