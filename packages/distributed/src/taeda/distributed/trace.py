"""`python -m taeda.distributed.trace FOLDER`: one sentence from the flight recorders of all ranks.

With TAEDA_TRACE_DIR set, every rank keeps its last 2,000 collectives and writes them there when one
fails, or on SIGUSR2.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["load", "main", "verdict"]


def load(folder: str | Path) -> dict[int, dict[str, Any]]:
    """The dumps in a folder, by rank. ValueError if there are none.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rank0.json").write_text('{"rank": 0, "reason": "a signal", "calls": []}')
    >>> load(folder)[0]["reason"]
    'a signal'
    """
    dumps = [json.loads(path.read_bytes()) for path in sorted(Path(folder).glob("rank*.json"))]
    if not dumps:
        raise ValueError(f"no dumps rank*.json in {folder}: was TAEDA_TRACE_DIR set?")
    return {dump["rank"]: dump for dump in dumps}


def _by_number(dump: dict[str, Any], group: str) -> dict[int, dict[str, Any]]:
    return {call["seq"]: call for call in dump["calls"] if call["group"] == group and call["seq"]}


def _names(ranks: list[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"


def _told(call: dict[str, Any]) -> str:
    return f"{call['signature']} at {call['line']} ({call['state']})"


def verdict(dumps: dict[int, dict[str, Any]]) -> str:
    """Who diverged first, where, and what the others were doing.

    >>> call = {"group": "0", "seq": 1, "signature": "barrier()", "line": "a.py:1", "state": "done"}
    >>> verdict({0: {"calls": [call]}, 1: {"calls": []}})
    'in group 0, rank 1 never came to collective 1, where rank 0 was in barrier() at a.py:1 (done)'
    """
    groups = sorted({call["group"] for dump in dumps.values() for call in dump["calls"]})
    for group in groups:
        members = {rank: _by_number(dump, group) for rank, dump in dumps.items()}
        if sentence := _first_difference(group, members):
            return sentence
    last = max(
        (call for dump in dumps.values() for call in dump["calls"]),
        key=lambda call: call["began"],
        default=None,
    )
    where = f"; the last one was {_told(last)}" if last is not None else ""
    return f"{_names(sorted(dumps))} agree on all collectives{where}"


def _first_difference(group: str, members: dict[int, dict[int, dict[str, Any]]]) -> str:
    starts = [min(calls) for calls in members.values() if calls]
    end = max((max(calls) for calls in members.values() if calls), default=0)
    for seq in range(max(starts, default=1), end + 1):
        here = {rank: calls[seq] for rank, calls in members.items() if seq in calls}
        absent = sorted(set(members) - set(here))
        if absent:
            first = min(here)
            others = _names(sorted(here))
            return (
                f"in group {group}, {_names(absent)} never came to collective {seq}, where "
                f"{others} {'was' if len(here) == 1 else 'were'} in {_told(here[first])}"
            )
        kinds: dict[str, list[int]] = {}
        for rank, call in here.items():
            kinds.setdefault(call["signature"], []).append(rank)
        if len(kinds) > 1:
            parts = [f"{_names(ranks)} called {_told(here[ranks[0]])}" for ranks in kinds.values()]
            return f"in group {group}, collective {seq} differs: {'; '.join(parts)}"
        failed = sorted(
            rank for rank, call in here.items() if call["state"] not in ("done", "refused")
        )
        if failed:
            return (
                f"in group {group}, all came to collective {seq}, but {_names(failed)} did not end "
                f"{_told(here[failed[0]])}"
            )
    return ""


def main() -> None:
    """The command.

    >>> import tempfile
    >>> from unittest import mock
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rank0.json").write_text('{"rank": 0, "reason": "a signal", "calls": []}')
    >>> with mock.patch.object(sys, "argv", ["trace", str(folder)]):
    ...     main()
    rank 0: 0 calls; a signal
    rank 0 agree on all collectives
    """
    if len(sys.argv) != 2:
        sys.exit("usage: python -m taeda.distributed.trace FOLDER")
    try:
        dumps = load(sys.argv[1])
    except ValueError as error:
        sys.exit(str(error))
    for rank, dump in dumps.items():
        print(f"rank {rank}: {len(dump['calls'])} calls; {dump['reason'].splitlines()[0]}")
    print(verdict(dumps))


if __name__ == "__main__":
    main()
