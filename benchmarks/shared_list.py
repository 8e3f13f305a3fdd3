"""Memory of workers that walk over a large list of dicts: an ordinary list, and a SharedList.

Each row is a process of its own, with workers started from it. Memory is the proportional set size
(a page that four processes share counts a quarter for each), of parent and workers together, after
every worker has read every record. The ratio is to the parent alone with the ordinary list.
`--records 600000 --workers 4` are the defaults.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import taeda.multiprocessing as mp
from taeda.utils.data import SharedList

ROWS = [("list", "none"), ("list", "fork"), ("shared", "none"), ("shared", "fork"),
    ("shared", "forkserver"), ("shared", "spawn")]  # fmt: skip


def records(n: int) -> Any:
    return (
        {"path": f"images/{i:07d}.png", "label": i % 1000, "box": [i, i + 1, i + 2, i + 3]}
        for i in range(n)
    )


def memory() -> int:
    """Bytes of this process, shared pages in proportion."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return 1024 * sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def walk(data: Any, mine: Any, go: Any) -> None:
    total = sum(record["label"] for record in data)
    mine.send(total)
    go.wait()
    mine.send(memory())
    go.wait()


def measure(kind: str, method: str, n: int, workers: int) -> tuple[int, list[int]]:
    data = SharedList(records(n)) if kind == "shared" else list(records(n))
    own = sum(record["label"] for record in data)
    if method == "none":
        return memory(), []
    context = mp.get_context(method)
    both, pipes, processes = context.Barrier(workers + 1), [], []
    for _ in range(workers):
        here, there = context.Pipe()
        process = context.Process(target=walk, args=(data, there, both), daemon=True)
        process.start()
        pipes.append(here)
        processes.append(process)
    assert all(pipe.recv() == own for pipe in pipes)
    both.wait()  # all have read everything and still live
    found = [pipe.recv() for pipe in pipes]
    parent = memory()
    both.wait()
    for process in processes:
        process.join()
    return parent, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--records", type=int, default=600_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(*options.row.split(","), options.records, options.workers)))
        return
    print(f"{options.records} records, {options.workers} workers; megabytes")
    print(f"{'data':8} {'workers by':12} {'parent':>8} {'workers':>8} {'all':>8} {'ratio':>6}")
    base = 0
    for row in ROWS:
        command = [sys.executable, __file__, "--row", ",".join(row)]
        command += ["--records", str(options.records), "--workers", str(options.workers)]
        parent, found = json.loads(subprocess.check_output(command, text=True))
        base = base or parent
        numbers = [x / 1e6 for x in (parent, sum(found), parent + sum(found))]
        print(
            f"{row[0]:8} {row[1]:12} "
            + " ".join(f"{x:8.1f}" for x in numbers)
            + f" {(parent + sum(found)) / base:6.2f}"
        )


if __name__ == "__main__":
    main()
