"""The message when memory runs out says what holds it, and where it was asked for."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import standin


def test_the_message_says_what_holds_the_memory():
    standin.memory("""
parts = [make(300) for _ in range(10)]
few = [make(100) for _ in range(3)]
refuses(taeda.OutOfMemoryError, ["Tried to allocate 2.00 GiB on cuda:0",
        "capacity of the device     4.00 GiB",
        "2.93 GiB     in 10 blocks of 300.00 MiB each", "300.00 MiB   in 3 blocks of 100.00 MiB each",
        "in 13 segments"],
        lambda: make(2048))
del parts, few
cuda.empty_cache()
cuda.memory._record_memory_history()
def hold():
    return taeda.empty(1000 * MIB, dtype=taeda.uint8, device="cuda")
a, b = hold(), hold()
refuses(taeda.OutOfMemoryError, ["1.95 GiB     in 2 blocks by empty, <string>:"], lambda: make(4000))
""")
