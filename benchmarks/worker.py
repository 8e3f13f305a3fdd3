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

import cases_kinds  # noqa: F401  # its cases join the table
from cases import CASES
from limits import Limits, least_seconds

Clock = Callable[[], float]
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def main(library: str, threads: int, clock: str = "wall", device: str = "cpu") -> None:
    lib = importlib.import_module(library)
    lib.set_num_threads(threads)
    wait: Callable[[], object] = int
    if device != "cpu":  # which costs a look at every call
        lib.set_default_device(device)
        wait = lib.cuda.synchronize
    prepared: dict[tuple[str, str], Callable[[], object]] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("forget"):
            prepared.clear()
            answer: dict[str, Any] = {}
        else:
            answer = _answer(lib, prepared, asked, CLOCKS[clock], wait)
        print(json.dumps(answer), flush=True)


def _answer(
    lib: Any, prepared: dict, asked: dict[str, Any], clock: Clock, wait: Callable[[], object]
) -> dict[str, Any]:
    key = asked["group"], asked["case"]
    try:
        if key not in prepared:
            prepared[key] = CASES[key[0]][key[1]](lib)
            prepared[key]()  # the first call allocates, picks kernels, fills caches
        if "limits" in asked:
            limits = Limits(**asked["limits"])
            return {"seconds": least_seconds(prepared[key], limits, lib.get_num_threads())}
        return {"seconds": _repeat(prepared[key], asked["loops"], clock, wait)}
    except Exception as error:  # noqa: BLE001 - whatever a case raises is its row in the table
        return {"error": f"{type(error).__name__}: {error}"}


def _repeat(
    action: Callable[[], object], loops: int, clock: Clock, wait: Callable[[], object]
) -> float:
    """Seconds for one call, over `loops` calls, until a device has done them."""
    repeat = range(loops)
    wait()
    start = clock()
    for _ in repeat:
        action()
    wait()
    return (clock() - start) / loops


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
