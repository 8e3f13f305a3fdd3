"""Private pools, and functions of somebody else that allocate."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_a_private_pool_serves_nobody_else():
    standin.memory("""
pool = cuda.MemPool()
assert pool.use_count() == 1 and pool.snapshot() == []
with cuda.use_mem_pool(pool):
    a = make(1)
    assert pool.use_count() == 2
b = make(1)
assert pool.use_count() == 1
[segment] = pool.snapshot()
assert (
    segment["address"]
    <= a.data_ptr()
    < segment["address"] + segment["total_size"]
    == segment["address"] + 2 * MIB
)
assert (
    segment["segment_pool_id"] == pool.id
    and not segment["address"] <= b.data_ptr() < segment["address"] + 2 * MIB
)
with cuda.use_mem_pool(pool):
    c = make(1)
    assert len(pool.snapshot()) == 1
    d = make(1)
assert len(pool.snapshot()) == 2
place = a.data_ptr()
del a
assert make(1).data_ptr() != place, "the common pool does not see it"
other = cuda.MemPool()
with cuda.use_mem_pool(pool):
    with cuda.use_mem_pool(other):
        assert make(1).data_ptr() != place
    assert make(1).data_ptr() == place
    e = make(1, "cuda:1")    # another device than the pool was entered for
assert e.data_ptr() not in range(place, place + 2 * MIB)
del e
held = cuda.memory_reserved()
number = pool.id
del pool
assert cuda.memory_reserved() == held, "c and d live in it"
del c, d
cuda.empty_cache()
assert cuda.memory_snapshot(number) == [] and cuda.memory_reserved() < held
refuses(TypeError, ["MemPool", "int"], lambda: cuda.use_mem_pool(3).__enter__())
""")


def test_private_pools_stay_apart_between_threads():
    standin.memory("""
import threading
pool = cuda.MemPool()
made = []
with cuda.use_mem_pool(pool):
    t = threading.Thread(target=lambda: made.append(make(1)))
    t.start(); t.join()
assert pool.snapshot() == []
""")


FUNCTIONS = r"""
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
static long live, calls;
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
void *give(ssize_t bytes, int device, void *stream)
{
    uint64_t address = 0;
    if (bytes > (ssize_t)1 << 30 || cuMemAlloc_v2(&address, (size_t)bytes)) return NULL;
    live += bytes, calls++;
    return (void *)(uintptr_t)address;
}
void take(void *memory, ssize_t bytes, int device, void *stream)
{
    live -= bytes;
    cuMemFree_v2((uint64_t)(uintptr_t)memory);
}
long live_bytes(void) { return live; }
long give_calls(void) { return calls; }
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """A library of two functions that allocate, by the stand-in driver."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "f.c").write_text(FUNCTIONS)
    driver = standin.environment()["TAEDA_LIBCUDA"]
    made = folder / "functions.so"
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            "-o",
            made,
            folder / "f.c",
            driver,
            f"-Wl,-rpath,{Path(driver).parent}",
        ],
        check=True,
    )
    return str(made)


def test_somebody_elses_functions_allocate(functions):
    standin.memory(f"""
import ctypes
so = ctypes.CDLL({functions!r})
refuses(ValueError, ["no function 'gives'"],
        lambda: cuda.CUDAPluggableAllocator({functions!r}, "gives", "take"))
refuses(OSError, ["nowhere"], lambda: cuda.CUDAPluggableAllocator("/nowhere.so", "give", "take"))
new = cuda.CUDAPluggableAllocator({functions!r}, "give", "take")
refuses(TypeError, ["CUDAPluggableAllocator", "str"], lambda: cuda.change_current_allocator("x"))
cuda.change_current_allocator(new)
x = taeda.ones(1000, device="cuda")
assert so.live_bytes() == 4096 == cuda.memory_allocated()
assert x.sum().item() == 1000
s = cuda.Stream()
x.record_stream(s)
del x
cuda.synchronize(); make(1)
assert so.live_bytes() == 0 == cuda.memory_allocated() and so.give_calls() >= 3
refuses(taeda.OutOfMemoryError, ["2.00 GiB"], lambda: make(2048))
refuses(RuntimeError, ["already initialized"], lambda: cuda.change_current_allocator(new))
""")


def test_a_private_pool_may_have_an_allocator(functions):
    standin.memory(f"""
import ctypes
so = ctypes.CDLL({functions!r})
allocator = cuda.CUDAPluggableAllocator({functions!r}, "give", "take").allocator()
pool = cuda.MemPool(allocator)
assert pool.allocator is allocator and cuda.MemPool().allocator is None
with cuda.use_mem_pool(pool):
    x = make(1)
y = make(1)
assert so.live_bytes() == 2 * MIB and so.give_calls() == 1
with cuda.use_mem_pool(pool):
    z = make(0.5)
assert so.give_calls() == 1, "the pool keeps what the functions gave"
del x, z, pool
assert so.live_bytes() == 0, "an empty pool without its maker gives all back"
""")
