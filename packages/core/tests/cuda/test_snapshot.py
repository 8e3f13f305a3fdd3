"""What viewers of memory snapshots read."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_the_snapshot_has_what_viewers_read():
    standin.memory("""
import tempfile, os
cuda.memory._record_memory_history(max_entries=1000)
def step():
    return taeda.ones(1000, device="cuda").exp()
x = step()
cuda.memory._dump_snapshot(os.path.join(tempfile.mkdtemp(), "s.pickle"))
y = make(30); del y
snapshot = pickle.loads(pickle.dumps(cuda.memory._snapshot()))
segments = {s["address"]: s for s in snapshot["segments"]}
small, = [s for s in segments.values() if s["segment_type"] == "small"]
assert small["total_size"] == 2 * MIB == sum(b["size"] for b in small["blocks"])
assert small["allocated_size"] == small["active_size"] == 4096 and small["requested_size"] == 4000
block, = [b for b in small["blocks"] if b["state"] == "active_allocated"]
assert block["address"] == x.data_ptr() and block["requested_size"] == 4000
assert block["frames"][0]["name"] == "exp" and "step" in [f["name"] for f in block["frames"]]
assert all(set(f) == {"filename", "line", "name"} for f in block["frames"])
trace, other = snapshot["device_traces"]
assert not other
actions = [t["action"] for t in trace]
assert actions[:4] == ["segment_alloc", "alloc", "alloc", "free_requested"], actions
assert actions.count("snapshot") == 1 and actions.count("alloc") == 3 == actions.count("free_completed") + 1
large, = [t for t in trace if t["action"] == "alloc" and t["size"] == 30 * MIB]
assert large["frames"] and large["addr"] and large["stream"] == 0 and large["time_us"] > 1.6e15
free, = [t for t in trace if t["action"] == "free_requested" and t["addr"] == large["addr"]]
assert free["frames"][0]["filename"] == "<string>" and large["time_us"] <= free["time_us"]
refuses(taeda.OutOfMemoryError, [], lambda: make(5000))
failed, = [t for t in cuda.memory._snapshot(0)["device_traces"][0] if t["action"] == "oom"]
assert failed["size"] == 5000 * MIB and 0 < failed["device_free"] <= 4096 * MIB and "addr" not in failed
assert cuda.memory._snapshot(1)["device_traces"] == [[], []]
cuda.memory._record_memory_history(None)
assert cuda.memory._snapshot()["device_traces"] == [[], []]
assert cuda.memory_snapshot()[0]["blocks"][0]["frames"] == []
cuda.memory._record_memory_history("state", "state")
z = make(1)
assert cuda.memory._snapshot()["device_traces"] == [[], []]
assert any(b["frames"] for s in cuda.memory_snapshot() for b in s["blocks"])
cuda.memory._record_memory_history("all", "alloc", max_entries=3)
for _ in range(5): make(1)
trace = cuda.memory._snapshot()["device_traces"][0]
assert [t["action"] for t in trace] == [
    "alloc",
    "free_requested",
    "free_completed",
] and not trace[1]["frames"]
for words, call in (
    (["enabled", "'some'"], lambda: cuda.memory._record_memory_history("some")),
    (["context", "'some'"], lambda: cuda.memory._record_memory_history("all", "some")),
    (["python", "'all'"], lambda: cuda.memory._record_memory_history("all", "all", "all")),
    (["max_entries", "0"], lambda: cuda.memory._record_memory_history(max_entries=0)),
    (["device", "1"], lambda: cuda.memory._record_memory_history(device=1)),
):
    refuses(ValueError, words, call)
""")


def test_without_a_device_snapshots_are_empty():
    standin.memory(
        """
assert cuda.memory_snapshot() == [] and cuda.memory._snapshot()["segments"] == []
assert cuda.memory_summary() == "No CUDA device was used yet."
""",
        TAEDA_NULL_DEVICES="0",
    )
