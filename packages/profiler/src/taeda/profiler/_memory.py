"""Who holds which memory now: by kind, by module, and by line where that is recorded."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import taeda
from taeda import Tensor
from taeda._core_api.doors import DisableTorchFunction
from taeda._core_api.files import atomic_write
from taeda._core_api.programs import tracers
from taeda._core_api.runtime import living_objects, memory_stats

from ._blocks import deliver, listen, stop_listening
from ._callers import place_of
from ._ledger import Held, Ledger, Origin
from ._tensors import storage_of
from ._texts import format_memory, operation

__all__ = ["Memory", "memory", "record_memory"]

_ROWS = 12
Row = tuple[str, int, int]  # what, bytes, how many


@dataclass
class Memory:
    """What `memory` found, in bytes. `str` is a table.

    Args:
        device: the name of the device.
        allocated: bytes that are held now.
        peak: the most bytes that were held at once.
        by_kind: (kind, bytes, tensors) of parameters, gradients and so on.
        by_module: (name of the module, bytes, tensors).
        by_line: (file:line, bytes, blocks) of what was taken while `record_memory` was on.
        peak_by_line: the same at the moment when most was held.

    >>> found = Memory("cpu", 4096, 8192, [("parameters", 4096, 2)], [])
    >>> found.peak - found.allocated
    4096
    """

    device: str
    allocated: int
    peak: int
    by_kind: list[Row]
    by_module: list[Row]
    by_line: list[Row] = field(default_factory=list)
    peak_by_line: list[Row] = field(default_factory=list)

    def __str__(self) -> str:
        head = (
            f"{self.device} holds {format_memory(self.allocated)}, at most "
            f"{format_memory(self.peak)} so far"
        )
        parts = {
            "kind": self.by_kind, "module": self.by_module, "line": self.by_line,
            "line, at the highest": self.peak_by_line,
        }  # fmt: skip
        lines = [head]
        for title, rows in parts.items():
            if rows:
                lines += ["", *_table(title, rows)]
        if not self.by_line:
            lines += ["", "Lines are known of what is taken after taeda.profiler.record_memory()."]
        return "\n".join(lines)

    __repr__ = __str__


def _table(title: str, rows: list[Row]) -> Iterator[str]:
    shown = [(name, format_memory(size), f"{count:,}") for name, size, count in rows[:_ROWS]]
    if len(rows) > _ROWS:
        rest = rows[_ROWS:]
        size, count = sum(row[1] for row in rest), sum(row[2] for row in rest)
        shown.append((f"{len(rest)} others", format_memory(size), f"{count:,}"))
    cells = [(title, "held", "pieces"), *shown]
    wide = [max(len(row[k]) for row in cells) for k in range(3)]
    for name, held, pieces in cells:
        yield f"  {held:>{wide[1]}}  {pieces:>{wide[2]}}  {name}"


def memory(device: Any = None) -> Memory:
    """Who holds memory of `device` now: the processor, or a CUDA device.

    By kind (parameters, gradients, buffers, states of optimizers, other tensors, and what only graphs
    and the library hold) and by module. By line for what was taken while `record_memory` is on. A
    storage counts once, for the first that has it.

    Args:
        device: None (the default) for the processor, or a CUDA device.

    >>> x = taeda.ones(1000)
    >>> found = memory()
    >>> found.allocated >= 4000, "other tensors" in [row[0] for row in found.by_kind]
    (True, True)
    """
    where = taeda.device("cpu" if device is None else device)
    with DisableTorchFunction():  # a subclass may refuse, or note, each question
        owners = _Owners(where.type)
        tensors = _living(Tensor)
        owners.optimizers()
        for tensor in tensors:
            owners.add("other tensors", "", tensor)
    allocated, peak = _totals(where)
    kinds = owners.rows(0)
    known = sum(size for _, size, _ in kinds)
    if allocated > known:
        kinds.append(("graphs and the library", allocated - known, 1))
    found = Memory(str(where), allocated, peak, kinds, [row for row in owners.rows(1) if row[0]])
    if where.type == "cpu" and _Record.ledger is not None:
        deliver()
        found.by_line = _Record.ledger.by("place")
        peaks = _Record.ledger.peak
        found.peak = max(found.peak, peaks.size)
        by_size = sorted(peaks.by_place.items(), key=lambda row: -row[1])
        found.peak_by_line = [(place, size, 1) for place, size in by_size]
    return found


def _living(kind: type[Any]) -> list[Any]:
    return [one for one in living_objects(gc.get_objects, None)[0] if isinstance(one, kind)]


def _totals(where: Any) -> tuple[int, int]:
    if where.type == "cpu":
        stats = memory_stats()
        return stats["allocated"], stats["peak"]
    if where.type == "cuda":
        return taeda.cuda.memory_allocated(where), taeda.cuda.max_memory_allocated(where)
    raise ValueError(f"memory: nothing is known of the memory of {where}; ask for cpu or cuda")


class _Owners:
    """Storages, each counted once: (kind, module) by address."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._seen: dict[int, tuple[tuple[str, str], int]] = {}
        self._modules()

    def add(self, kind: str, module: str, tensor: Tensor) -> None:
        if tensor.device.type != self._device:
            return
        storage = storage_of(tensor)
        if storage is None:
            return
        self._seen.setdefault(storage.data_ptr(), ((kind, module), storage.nbytes()))

    def _modules(self) -> None:
        if "taeda.nn" not in sys.modules:
            return
        from taeda import nn  # upward: the program has imported it

        modules = _living(nn.Module)
        inner = {id(child) for one in modules for child in one._modules.values()}
        for top in modules:
            if id(top) not in inner:
                for path, module in top.named_modules():
                    self._module(f"{type(top).__name__}.{path}".rstrip("."), module)

    def _module(self, name: str, module: Any) -> None:
        for parameter in module._parameters.values():
            if parameter is not None:
                self.add("parameters", name, parameter)
                if parameter.grad is not None:
                    self.add("gradients", name, parameter.grad)
        for buffer in module._buffers.values():
            if buffer is not None:
                self.add("buffers", name, buffer)

    def optimizers(self) -> None:
        """States of optimizers."""
        if "taeda.optim" not in sys.modules:
            return
        from taeda import optim  # upward: the program has imported it

        for one in _living(optim.Optimizer):
            for state in one.state.values():
                for value in state.values():
                    if isinstance(value, Tensor):
                        self.add("states of optimizers", "", value)

    def rows(self, part: int) -> list[Row]:
        """By kind (0) or module (1), the most first."""
        sums: dict[str, list[int]] = {}
        for key, size in self._seen.values():
            row = sums.setdefault(key[part], [0, 0])
            row[0] += size
            row[1] += 1
        return sorted(
            ((k, size, n) for k, (size, n) in sums.items() if size), key=lambda row: -row[1]
        )


class _History(Ledger):
    """A ledger that also keeps the last steps, for viewers: (when, address, bytes, whose)."""

    def __init__(self, total: int, steps: int) -> None:
        super().__init__(total)
        self.steps: deque[tuple[int, int, int, Origin]] = deque(maxlen=steps)

    def block(self, when: int, address: int, size: int) -> None:
        held = self.live.get(address)
        if size > 0 or held is not None:  # what was there before is in no snapshot
            self.steps.append((when, address, size, held.origin if held else self.origin))
        super().block(when, address, size)


class _Record:
    """The one recording of lines of this process."""

    ledger: _History | None = None


class record_memory:
    """From now on `memory` knows the line of what this thread's operations take; as a context, until
    its end. A recording that is on goes on.

    Args:
        enabled: False ends the recording; True by default.
        max_entries: how many of the last steps a snapshot shows, each a block taken or given back
            (default: 100000).

    >>> with record_memory():
    ...     x = taeda.ones(1000)
    ...     found = memory()
    >>> found.by_line[0][1:]
    (4000, 1)
    """

    def __init__(self, enabled: bool = True, *, max_entries: int = 100_000) -> None:
        if max_entries < 1:
            raise ValueError(
                f"record_memory: max_entries is {max_entries}, and has to be 1 or more"
            )
        self._began = False
        if enabled and _Record.ledger is None:
            _Record.ledger = _History(memory_stats()["allocated"], max_entries)
            listen(_Record.ledger)
            tracers.push(_lines)
            self._began = True
        elif not enabled:
            _end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._began:
            _end()

    def snapshot(self) -> dict[str, Any]:
        """What is held, and the last steps that led there, in the schema of PyTorch's viewer of memory:
        {"segments": [...], "device_traces": [[...]]}, each block with its line. RuntimeError when
        nothing is recorded.
        """
        ledger = _Record.ledger
        if ledger is None:
            raise RuntimeError(
                "record_memory: nothing is recorded; make one before the program runs"
            )
        deliver()
        held = sorted(ledger.live.items())
        return {
            "segments": [_segment(address, one) for address, one in held],
            "device_traces": [[step for one in ledger.steps for step in _steps(*one)]],
        }

    def dump_snapshot(self, path: str | os.PathLike[str]) -> None:
        """Write `snapshot()` as a pickle, which the viewer opens."""
        made = self.snapshot()
        with atomic_write(os.fspath(path)) as file:
            pickle.dump(made, file)


def _end() -> None:
    ledger, _Record.ledger = _Record.ledger, None
    if ledger is not None:
        tracers.remove(_lines)
        stop_listening(ledger)


class _Lines:
    """The tracer that says which line takes."""

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        ledger = _Record.ledger
        if ledger is None:  # ended in another thread
            return run()
        deliver()
        ledger.origin = Origin(place_of(), operation(op), "")
        try:
            return run()
        finally:
            deliver()


_lines = _Lines()


def _frames(origin: Origin) -> list[dict[str, Any]]:
    file, _, line = origin.place.rpartition(":")
    return [
        {
            "filename": file,
            "line": int(line) if line.isdigit() else 0,
            "name": origin.operation,
        }
    ]


def _segment(address: int, held: Held) -> dict[str, Any]:
    block = {
        "address": address, "size": held.size, "requested_size": held.size,
        "state": "active_allocated", "frames": _frames(held.origin),
    }  # fmt: skip
    return {
        "device": 0, "address": address, "total_size": held.size, "allocated_size": held.size,
        "active_size": held.size, "requested_size": held.size, "stream": 0, "segment_type": "large",
        "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": [block],
    }  # fmt: skip


def _steps(when: int, address: int, size: int, origin: Origin) -> Iterator[dict[str, Any]]:
    """A block is given back in two steps: asked for, and done."""
    shift = time.time_ns() - time.monotonic_ns()
    for action in ("alloc",) if size > 0 else ("free_requested", "free_completed"):
        yield {
            "action": action, "addr": address, "size": abs(size), "stream": 0,
            "time_us": (when + shift) // 1000, "frames": _frames(origin),
        }  # fmt: skip
