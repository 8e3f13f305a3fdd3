"""Fork while every thread works, and count the children that hang: `python benchmarks/fork.py --cycles 1000`.

Threads of Python multiply, add and allocate without pause, on the pool and on BLAS, so that at the
moment of a fork locks of the allocator, the pool and BLAS are held somewhere. The child computes
the same; one that has not ended after `--patience` seconds is a hang, its stack is printed and it
is killed. A wrong result is a failure.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import threading
import time

import taeda


def work(n: int) -> float:
    """A product (BLAS), a sum (pool) and a row of small blocks (allocator)."""
    a = taeda.ones(n, n)
    b = (a @ a).add_(1).sum().item()
    blocks = [taeda.ones(100 * k) for k in range(1, 20)]
    return b + sum(x[0].item() for x in blocks)


def keep_busy(n: int, stop: threading.Event) -> list[threading.Thread]:
    def loop() -> None:
        while not stop.is_set():
            work(n)

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    return threads


def child(n: int, wanted: float, patience: float) -> None:
    faulthandler.dump_traceback_later(patience * 0.9)
    try:
        code = 0 if work(n) == wanted else 3
    except BaseException as error:  # noqa: BLE001 - a child of a fork must not run the parent's handlers
        print(f"child: {error!r}", file=sys.stderr)
        code = 4
    os._exit(code)


def outcome(pid: int, patience: float) -> str:
    until = time.monotonic() + patience
    pause = 0.0005
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return "ok" if status == 0 else f"status {status}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "hang"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--size", type=int, default=192, help="rows of the matrices")
    parser.add_argument(
        "--patience", type=float, default=20.0, help="seconds before a child counts as hung"
    )
    options = parser.parse_args()
    wanted = work(options.size)
    stop = threading.Event()
    threads = keep_busy(options.size, stop)
    counts: dict[str, int] = {}
    begin = time.monotonic()
    for _ in range(options.cycles):
        pid = os.fork()
        if pid == 0:
            child(options.size, wanted, options.patience)
        result = outcome(pid, options.patience)
        counts[result] = counts.get(result, 0) + 1
    stop.set()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    others = {k: v for k, v in counts.items() if k not in ("ok", "hang")}
    print(
        f"{options.cycles} forks amid {len(threads)} busy threads in {seconds:.1f} s; other ends: "
        f"{others or 'none'}"
    )
    print(f"hangs {counts.get('hang', 0)} of {options.cycles}")
    return 0 if counts.get("ok", 0) == options.cycles else 1


if __name__ == "__main__":
    sys.exit(main())
