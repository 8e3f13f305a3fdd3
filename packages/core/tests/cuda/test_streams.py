"""Streams, events and what crosses between the host, a device and its peer, on the stand-in driver
whose work runs late.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import standin

PROLOGUE = """
import gc, taeda
cuda = taeda.cuda
def refuses(kind, words, call):
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, error)
    else:
        raise AssertionError(words)
"""

CASES = {
    "pinned memory": """
x = taeda.arange(6.0).reshape(2, 3)
p = x.pin_memory()
assert p.is_pinned() and not x.is_pinned() and p.pin_memory() is p and taeda.equal(p, x)
assert p[1:].is_pinned() and p.t().is_pinned() and not p.clone().is_pinned()
for made in (taeda.empty(3, pin_memory=True), taeda.zeros(2, 3, pin_memory=True),
             taeda.ones_like(x, pin_memory=True),
             taeda.rand(4, pin_memory=True), taeda.arange(5, pin_memory=True),
             taeda.tensor([1, 2], pin_memory=True),
             x.new_tensor([3.0], pin_memory=True), x.new_full((2,), 7, pin_memory=True)):
    assert made.is_pinned() and made.device.type == "cpu", made
assert taeda.arange(5, pin_memory=True).tolist() == [0, 1, 2, 3, 4]
taeda.manual_seed(1); a = taeda.rand(4, pin_memory=True)
taeda.manual_seed(1); assert taeda.equal(a, taeda.rand(4))
assert taeda.empty(0, pin_memory=True).numel() == 0
s = x.untyped_storage()
assert s.pin_memory().is_pinned() and not s.is_pinned()
g = x.clone().requires_grad_()
g.pin_memory().sum().backward()
assert taeda.equal(g.grad, taeda.ones(2, 3))
refuses(RuntimeError, ["only tensors on the cpu", "cuda:0"], lambda: x.cuda().pin_memory())
refuses(RuntimeError, ["only tensors on the cpu"], lambda: taeda.empty(2, device="cuda", pin_memory=True))
""",
    "a pinned block serves again": """
p = taeda.empty(1000, pin_memory=True)
place = p.data_ptr()
del p
q = taeda.empty(1010, pin_memory=True)
assert q.data_ptr() == place
stats = cuda._memory.host_memory_stats()
assert (
    stats["allocation.current"] == 1
    and stats["num_host_alloc"] == 1
    and stats["allocated_bytes.current"] >= 4040
)
""",
    "copies from pinned memory go on alone": """
p = taeda.arange(1000.0).pin_memory()
d = p.to("cuda", non_blocking=True)
p.fill_(-1)             # too early: the copy has not run yet
assert d.cpu()[3].item() == -1, (
    "the stand-in copies when somebody waits, so the copy was truly left to the device"
)
p.copy_(taeda.arange(1000.0))
d = p.to("cuda")        # waits
p.fill_(-1)
assert d.cpu()[3].item() == 3
x = taeda.arange(1000.0)
d = x.to("cuda", non_blocking=True)  # not pinned: the driver has taken the bytes along
x.fill_(-1)
assert d.cpu()[3].item() == 3
""",
    "a pinned block waits for its copies": """
p = taeda.arange(1000.0).pin_memory()
place = p.data_ptr()
d = p.to("cuda", non_blocking=True)
del p
q = taeda.full((1000,), -1.0, pin_memory=True)
assert q.data_ptr() != place, "the copy has not run"
assert d.cpu()[3].item() == 3
cuda.synchronize()
r = taeda.empty(1000, pin_memory=True)
assert r.data_ptr() == place
""",
    "copies to the host": """
d = taeda.arange(1000.0, device="cuda") + 1
h = d.to("cpu", non_blocking=True)
assert h.is_pinned() and h[3].item() != 4, "not there yet"
cuda.current_stream().synchronize()
assert h[3].item() == 4
q = taeda.zeros(1000)
q.copy_(d, non_blocking=True)   # into ordinary memory: waits
assert q[3].item() == 4
r = taeda.zeros(1000, pin_memory=True)
r.copy_(d, non_blocking=True)
assert r[3].item() == 0
cuda.synchronize()
assert r[3].item() == 4
t = taeda.zeros(10, 100, pin_memory=True).t()
t.copy_(d.reshape(100, 10), non_blocking=True)   # spread on the host: waits
assert t[0, 3].item() == 4
assert d.cuda() is d and d.to("cuda", non_blocking=True) is d
""",
    "streams do not see each other's work": """
s, t = cuda.Stream(), cuda.Stream()
with cuda.stream(s):
    x = taeda.full((100,), 5.0, device="cuda")
with cuda.stream(t):
    wrong = x.cpu()[0].item()        # no wait
    t.wait_stream(s)
    right = x.cpu()[0].item()
assert right == 5 and wrong != 5, (wrong, right)
e = cuda.Event()
with cuda.stream(s):
    y = x + 1
    e.record()
with cuda.stream(t):
    e.wait()
    assert y.cpu()[0].item() == 6
""",
    "backward runs where forward ran": """
s, t = cuda.Stream(), cuda.Stream()
w = taeda.full((100,), 3.0, device="cuda", requires_grad=True)
s.wait_stream(cuda.current_stream())
with cuda.stream(s):
    a = w * w
t.wait_stream(s)
with cuda.stream(t):
    b = (a * a).sum()
b.backward()                         # no wait: b is not computed yet
assert w.grad.cpu()[0].item() == 4 * 3.0**3
""",
    "record_stream keeps the memory": """
s = cuda.Stream()
x = taeda.full((1000,), 5.0, device="cuda")
place = x.data_ptr()
s.wait_stream(cuda.current_stream())
with cuda.stream(s):
    y = x + 1
x.record_stream(s)
del x
z = taeda.full((1000,), -1.0, device="cuda")
assert z.data_ptr() != place
assert cuda.memory_stats()["active.all.current"] == cuda.memory_stats()["allocation.all.current"] + 1
s.synchronize()
assert y.cpu()[0].item() == 6 or cuda.synchronize()
cuda.synchronize()
with cuda.stream(s):
    assert y.cpu()[0].item() == 6
again = [taeda.empty(1000, device="cuda") for _ in range(2)]
assert place in [t.data_ptr() for t in again]
refuses(TypeError, ["record_stream", "int"], lambda: z.record_stream(3))
refuses(RuntimeError, ["record_stream", "cpu"], lambda: taeda.ones(2).record_stream(s))
z.view(10, 100).record_stream(cuda.current_stream())
""",
    "without record_stream the memory is taken from under the other stream": """
s = cuda.Stream()
x = taeda.full((1000,), 5.0, device="cuda")
place = x.data_ptr()
s.wait_stream(cuda.current_stream())
with cuda.stream(s):
    y = x + 1
del x
z = taeda.full((1000,), -1.0, device="cuda")
assert z.data_ptr() == place
cuda.current_stream().synchronize()
with cuda.stream(s):
    assert y.cpu()[0].item() == 0, "the stand-in shows the fault"
""",
    "memory runs out while streams use it": """
s = cuda.Stream()
parts = [taeda.empty(1 << 30, dtype=taeda.uint8, device="cuda") for _ in range(3)]
s.wait_stream(cuda.current_stream())
for part in parts:
    part.record_stream(s)
del parts, part
whole = taeda.empty(3 << 30, dtype=taeda.uint8, device="cuda")   # waits for s and gives the segments back
assert cuda.memory_stats()["num_alloc_retries"] == 1
""",
    "streams come from a pool": """
least, greatest = cuda.Stream.priority_range()
assert (least, greatest) == (0, -5)
first = [cuda.Stream() for _ in range(32)]
assert len({s.cuda_stream for s in first}) == 32
again = {cuda.Stream().cuda_stream for _ in range(32)}
assert again == {s.cuda_stream for s in first}
fast = cuda.Stream(priority=-2)
assert fast.priority == -2 and fast.cuda_stream not in again
assert cuda.Stream(priority=-99).priority == -5
refuses(RuntimeError, ["at most 0", "got 3"], lambda: cuda.Stream(priority=3))
other = cuda.ExternalStream(fast.cuda_stream)
assert other == fast and other.priority == -2 and hash(other) == hash(fast)
with other:
    assert cuda.current_stream() == fast and cuda.current_stream().priority == -2
assert cuda.get_stream_from_external(fast.cuda_stream, 0) == fast
assert cuda.current_stream().stream_id == 0
""",
    "events": """
e = cuda.Event()
assert e.device is None and e.event_id == 0 and e.query()
e.synchronize(); e.wait()
x = taeda.ones(100, device="cuda") + 1
e.record()
assert e.device == taeda.device("cuda:0") and e.event_id and not e.query()
e.synchronize()
assert e.query()
a, b = cuda.Event(enable_timing=True, blocking=True), cuda.Event(enable_timing=True)
refuses(ValueError, ["recorded"], lambda: a.elapsed_time(b))
a.record(); x + 1; b.record()
cuda.synchronize()
assert a.elapsed_time(b) >= 0
refuses(RuntimeError, ["does not match"], lambda: e.record(cuda.current_stream(1)))
""",
    "two devices": """
assert cuda.can_device_access_peer(0, 1) and not cuda.can_device_access_peer(0, 0)
refuses(RuntimeError, ["2 CUDA devices"], lambda: cuda.can_device_access_peer(0, 2))
x = taeda.arange(1000.0, device="cuda:0") + 1
y = x.to("cuda:1")
with cuda.device(1):
    z = y + 1
assert z.cpu()[3].item() == 5
back = taeda.zeros(1000, device="cuda:0")
back.copy_(z, non_blocking=True)
del z
assert back.cpu()[3].item() == 5
s = cuda.Stream(1)
with cuda.stream(s):
    w = x.to("cuda:1") * 2
    assert w.cpu()[3].item() == 8
facts = cuda.get_device_properties(1)
assert str(facts.uuid) == "7ae0a000-0000-0000-0000-000000000001" and facts.pci_bus_id == 0x11
""",
    "sync debug mode": """
import warnings
assert cuda.get_sync_debug_mode() == 0
d = taeda.arange(5.0, device="cuda")
cuda.set_sync_debug_mode("warn")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert d[2].item() == 2
assert len(seen) == 1 and "synchronizing CUDA operation" in str(seen[0].message)
cuda.set_sync_debug_mode("error")
assert cuda.get_sync_debug_mode() == 2
refuses(RuntimeError, ["called a synchronizing CUDA operation", "reading the device"], lambda: d.cpu())
refuses(RuntimeError, ["called a synchronizing CUDA operation"], lambda: taeda.ones(3).cuda())
taeda.ones(3).cuda(non_blocking=True)
d + 1
cuda.synchronize()
cuda.set_sync_debug_mode(0)
assert d.tolist() == [0, 1, 2, 3, 4]
refuses(RuntimeError, ["default", "warn", "error"], lambda: cuda.set_sync_debug_mode("loud"))
refuses(RuntimeError, ["0, 1 or 2"], lambda: cuda.set_sync_debug_mode(3))
""",
}

#: what shows only when work runs late
LATE = {
    "copies from pinned memory go on alone", "a pinned block waits for its copies", "copies to the host",
    "streams do not see each other's work", "backward runs where forward ran", "events",
    "record_stream keeps the memory",
    "without record_stream the memory is taken from under the other stream",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_late(case):
    standin.run(PROLOGUE + CASES[case], TAEDA_NULL_LATE="1")


@pytest.mark.parametrize("case", [case for case in CASES if case not in LATE])
def test_at_once(case):
    standin.run(PROLOGUE + CASES[case])


def test_devices_without_peers_copy_all_the_same():
    standin.run(
        PROLOGUE
        + """
assert not cuda.can_device_access_peer(0, 1)
assert (taeda.ones(5, device="cuda:0").to("cuda:1") + 1).tolist() == [2] * 5
""",
        TAEDA_NULL_PEERS="0",
    )


@pytest.mark.parametrize(
    ("visible", "physical"),
    [
        ("1", [1]),
        ("1,0", [1, 0]),
        ("GPU-7ae0a000-0000-0000-0000-000000000001", [1]),
        (
            "MIG-7ae0a000-0000-0000-0000-000000000001,GPU-7ae0a000-0000-0000-0000-000000000000",
            [1, 0],
        ),
        ("0,5,1", [0]),
        ("0,0", []),
        ("GPU-nobody", []),
    ],
)
def test_visible_devices_by_ordinal_uuid_and_mig_name(visible, physical):
    """The driver reads the list; here, what we tell of the devices follows it."""
    standin.run(
        PROLOGUE
        + f"""
found = [cuda.get_device_properties(k).uuid.int & 0xff for k in range(cuda.device_count())]
assert found == {physical!r}, found
if not found:
    refuses(RuntimeError, ["CUDA_VISIBLE_DEVICES", "not available"], lambda: taeda.ones(1, device="cuda"))
""",
        CUDA_VISIBLE_DEVICES=visible,
    )


def test_pinned_memory_that_the_system_refuses():
    standin.run(
        PROLOGUE
        + """
a = taeda.empty(3 << 20, dtype=taeda.uint8, pin_memory=True)
refuses(
    taeda.OutOfMemoryError,
    ["locks no more pages", "6291456 bytes"],
    lambda: taeda.empty(6 << 20, dtype=taeda.uint8, pin_memory=True),
)
del a
assert taeda.empty(4 << 20, dtype=taeda.uint8, pin_memory=True).is_pinned(), "what was kept went back first"
""",
        TAEDA_NULL_HOST_MIB="4",
    )


def test_without_a_device_pinning_says_why():
    standin.run(
        PROLOGUE
        + """
for call in (
    taeda.ones(2).pin_memory,
    lambda: taeda.zeros(2, pin_memory=True),
    lambda: taeda.tensor([1], pin_memory=True),
):
    refuses(RuntimeError, ["pin_memory", "none is available", "no NVIDIA driver"], call)
""",
        TAEDA_LIBCUDA="/nowhere/libcuda.so.1",
    )


def test_a_loader_pins_its_batches():
    standin.run(
        PROLOGUE
        + """
import importlib.util
if importlib.util.find_spec("taeda.utils.data") is None:
    raise SystemExit
from taeda.utils.data import DataLoader, TensorDataset
data = TensorDataset(taeda.arange(12.0).reshape(6, 2), taeda.arange(6))
seen = []
for workers in (0, 2):
    for x, y in DataLoader(
        data,
        batch_size=2,
        pin_memory=True,
        num_workers=workers,
        multiprocessing_context="spawn" if workers else None,
    ):
        assert x.is_pinned() and y.is_pinned()
        seen += x.to("cuda", non_blocking=True).sum(1).tolist()
assert seen == [1, 5, 9, 13, 17, 21] * 2, seen
""",
        TAEDA_NULL_LATE="1",
    )
