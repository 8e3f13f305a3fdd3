"""A tensor to another process and back through queues, in microseconds; beside torch where that is installed.

Both libraries take turns; each figure is the median of medians. Every round sends a fresh tensor,
as a loader does.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from statistics import median
from typing import Any


def echo(inbox: Any, outbox: Any) -> None:
    while (value := inbox.get()) is not None:
        outbox.put(value)


def measure(library: str, kind: str, size: int, messages: int) -> float:
    """Median microseconds of a round trip."""
    tensors: Any = importlib.import_module(library)
    context = importlib.import_module(f"{library}.multiprocessing").get_context("fork")
    there, back = getattr(context, kind)(), getattr(context, kind)()
    process = context.Process(target=echo, args=(there, back), daemon=True)
    process.start()
    found = []
    for _ in range(messages):
        x = tensors.ones(size)
        start = time.perf_counter()
        there.put(x)
        back.get()
        found.append(time.perf_counter() - start)
    there.put(None)
    process.join()
    return 1e6 * median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=100)
    options = parser.parse_args()
    libraries = ["taeda"] + ["torch"] * bool(importlib.util.find_spec("torch"))
    print(
        f"{'queue':12} {'elements':>9} " + " ".join(f"{name:>9}" for name in libraries) + "  ratio"
    )
    for kind in ("SimpleQueue", "Queue"):
        for size in (100, 1_000_000):
            found: dict[str, list[float]] = {name: [] for name in libraries}
            for _ in range(options.rounds):
                for name in libraries:
                    found[name].append(measure(name, kind, size, options.messages))
            middle = [median(found[name]) for name in libraries]
            ratio = f"{middle[0] / middle[1]:6.2f}" if len(middle) > 1 else ""
            print(f"{kind:12} {size:9} " + " ".join(f"{x:9.0f}" for x in middle) + f" {ratio}")


if __name__ == "__main__":
    main()
