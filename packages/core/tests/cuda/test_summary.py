"""The table of the allocator's statistics."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_the_table_has_now_peak_and_sums():
    standin.memory("""
a, b = make(0.5), make(30)
del b
table = cuda.memory_summary()
lines = {
    line.split("|")[1].strip(): [part.strip() for part in line.split("|")[2:6]]
    for line in table.splitlines()
    if line.count("|") == 6
}
assert lines["Allocated memory"] == ["512 KiB", "30 MiB", "30 MiB", "30 MiB"], lines
assert lines["GPU reserved segments"] == ["2", "2", "2", "0"] and lines["Allocations"] == ["1", "2", "2", "1"]
assert "out of memory: 0" in table and "large" in table and "device 0" in table
assert "large" not in cuda.memory_summary(abbreviated=True)
""")
