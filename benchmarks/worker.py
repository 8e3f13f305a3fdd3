"""One library, in a process of its own: repeats cases when told to, and says how long it took.

Reads lines of JSON `{"group", "case", "loops"}` and answers `{"seconds"}` or `{"error"}`. A case is
prepared when first asked for; `{"forget": true}` frees it, and `{"limits": ...}` instead of `loops`
answers how long it would take at those limits.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from cases import CASES
from limits import Limits, least_seconds

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def main(library: str, threads: int, clock: str = "wall") -> None:
    lib = importlib.import_module(library)
    lib.set_num_threads(threads)
    prepared: dict[tuple[str, str], Callable[[], object]] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("forget"):
            prepared.clear()
            answer: dict[str, Any] = {}
        else:
            answer = _answer(lib, prepared, asked, CLOCKS[clock], threads)
        print(json.dumps(answer), flush=True)


def _answer(
    lib: Any, prepared: dict, asked: dict[str, Any], clock: Callable[[], float], threads: int
) -> dict[str, Any]:
    key = asked["group"], asked["case"]
    try:
        if key not in prepared:
            prepared[key] = CASES[key[0]][key[1]](lib)
            prepared[key]()  # the first call allocates, picks kernels, fills caches
        if "limits" in asked:
            limits = Limits(**asked["limits"])
            return {"seconds": least_seconds(prepared[key], limits, threads)}
        return {"seconds": _repeat(prepared[key], asked["loops"], clock)}
    except Exception as error:  # noqa: BLE001 - whatever a case raises is its row in the table
        return {"error": f"{type(error).__name__}: {error}"}


def _repeat(action: Callable[[], object], loops: int, clock: Callable[[], float]) -> float:
    """Seconds for one call, over `loops` calls."""
    repeat = range(loops)
    start = clock()
    for _ in repeat:
        action()
    return (clock() - start) / loops


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
