"""Traces of several processes in one file, on one line of time: ranks of a group, workers of a loader."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from taeda._core_api.files import atomic_write

__all__ = ["main", "merged"]

PARSER = argparse.ArgumentParser(
    prog="python -m taeda.profiler merge",
    description="Puts traces that export_chrome_trace wrote in several processes into one, each with a row "
    "of its own, at the time of the day at which it ran.",
)
PARSER.add_argument(
    "--out", default="merged.json", help="the trace; gzip where the name ends in .gz"
)
PARSER.add_argument("traces", nargs="+", help="traces, .json or .json.gz")


def main(words: Sequence[str]) -> int:
    """0. SystemExit with a sentence for a file that is no trace."""
    options = PARSER.parse_args(words)
    found = [_read(path) for path in options.traces]
    data = json.dumps(merged(found, [os.path.basename(path) for path in options.traces])).encode()
    with atomic_write(options.out) as file:
        file.write(gzip.compress(data, mtime=0) if options.out.endswith(".gz") else data)
    count = sum(len(trace["traceEvents"]) for trace in found)
    print(f"{options.out}: {count:,} events of {len(found)} processes", file=sys.stderr)
    return 0


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read()
        trace = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, EOFError, ValueError) as error:
        raise SystemExit(f"{path}: {error}") from error
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise SystemExit(f"{path}: this is no trace of a profile: it has no list traceEvents")
    return trace


def merged(traces: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    """One trace. Each gets a process of its own, named by its rank, or by its file; times are moved by
    what the beginnings of the traces differ (`baseTimeNanoseconds`; those without it begin with the
    first).
    """
    bases = [trace.get("baseTimeNanoseconds") for trace in traces]
    first = min((base for base in bases if base is not None), default=0)
    events: list[dict[str, Any]] = []
    for number, (trace, name, base) in enumerate(zip(traces, names, bases, strict=True)):
        rank = trace.get("distributedInfo", {}).get("rank")
        label = f"rank {rank}" if rank is not None else name
        facts = (("process_name", {"name": label}), ("process_sort_index", {"sort_index": number}))
        events += [{"ph": "M", "name": what, "pid": number, "args": args} for what, args in facts]
        moved = ((base if base is not None else first) - first) / 1e3
        events += [_moved(event, number, moved) for event in trace["traceEvents"]]
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": first,
        "traceEvents": events,
    }


def _moved(event: dict[str, Any], process: int, microseconds: float) -> dict[str, Any]:
    made = {**event, "pid": process}
    if "ts" in event:
        made["ts"] = event["ts"] + microseconds
    return made
