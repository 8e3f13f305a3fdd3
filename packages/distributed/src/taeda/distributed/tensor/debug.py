"""What collectives and operators a program of DTensors makes, and where a tensor lies."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
from collections import Counter
from typing import Any

from taeda import nn
from taeda._core_api import runtime as core
from taeda._core_api.files import atomic_write
from taeda.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

from .._calls import Call
from .._groups import recorder
from . import _settings
from ._api import DTensor

__all__ = ["CommDebugMode", "visualize_sharding"]

#: operators that move nothing
TRIVIAL = ("aten.detach", "aten.view", "aten.t.", "aten.transpose", "aten.alias", "aten.clone")


class CommDebugMode(contextlib.ContextDecorator):
    """Context that counts the collectives of this thread, and says by which module they were called.

    With `gather_limit` an operator that would gather a larger DTensor by itself, in bytes, raises
    RuntimeError; what `redistribute` and `full_tensor` gather is meant, and allowed.

    >>> from taeda.distributed.tensor.debug import CommDebugMode
    >>> with CommDebugMode() as mode:
    ...     pass
    >>> mode.get_total_counts()
    0
    """

    def __init__(self, *, gather_limit: int | None = None) -> None:
        self.gather_limit = gather_limit
        self._stack = contextlib.ExitStack()
        self._clear()

    def _clear(self) -> None:
        self._counts: Counter[str] = Counter()
        self._events: list[tuple[str, bool, str, str]] = []  # module, in backward, kind, name
        self._names: dict[int, str] = {}
        self._path: list[str] = []
        self._parameters: dict[str, dict[str, Any]] = {}
        self._sharding: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> CommDebugMode:
        self._clear()
        self._thread = threading.get_ident()
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(recorder.listening(self._collective))
        self._stack.enter_context(_settings.listening(self._operator))
        if self.gather_limit is not None:
            self._stack.enter_context(_settings.limit_gathers(self.gather_limit))
        self._stack.callback(register_module_forward_pre_hook(self._begin).remove)
        self._stack.callback(register_module_forward_hook(self._end).remove)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    # ---- what happens ----

    def _collective(self, call: Call) -> None:
        self._counts[call.name] += 1
        self._note("collective", call.name)

    def _operator(self, name: str) -> None:
        self._note("operator", name)

    def _note(self, kind: str, name: str) -> None:
        where = self._path[-1] if self._path else "Global"
        self._events.append((where, bool(core.backward_task()), kind, name))

    def _begin(self, module: nn.Module, inputs: Any) -> None:
        if threading.get_ident() != self._thread:
            return  # the hooks are of all threads
        if not self._path:
            for name, part in module.named_modules():
                kind = type(module).__name__
                self._names[id(part)] = f"{kind}.{name}" if name else kind
        name = self._names.setdefault(id(module), type(module).__name__)
        self._path.append(name)
        held = dict(module.named_parameters(recurse=False))
        if held:
            self._parameters[name] = {key: param.detach() for key, param in held.items()}
            every: dict[str, Any] = dict(held)
            cut = {key: p.placements for key, p in every.items() if isinstance(p, DTensor)}
            self._sharding.update({f"{name}.{key}": {"placements": p} for key, p in cut.items()})

    def _end(self, module: nn.Module, inputs: Any, outputs: Any) -> None:
        if self._path and threading.get_ident() == self._thread:
            self._path.pop()

    # ---- what is told ----

    def get_comm_counts(self) -> dict[Any, int]:
        """How often each collective was called, by its name, such as "all_reduce"."""
        return dict(self._counts)

    def get_total_counts(self) -> int:
        """How many collectives were called."""
        return sum(self._counts.values())

    def get_parameter_info(self) -> dict[str, dict[str, Any]]:
        """The parameters of each module that ran, by name."""
        return {name: dict(held) for name, held in self._parameters.items()}

    def get_sharding_info(self) -> dict[str, dict[str, Any]]:
        """The placements of each parameter that is a DTensor."""
        return {name: dict(held) for name, held in self._sharding.items()}

    def generate_comm_debug_tracing_table(self, noise_level: int = 3) -> str:
        """A table of the collectives by module. Level 1 and more add operators of DTensors that move
        data or compute, 3 and more all of them; 0 has counts only.
        """
        lines = []
        for (where, back), group in itertools.groupby(self._events, key=lambda event: event[:2]):
            held = list(group)
            lines.append(f"{where} ({'backward' if back else 'forward'})")
            counts = Counter(name for _, _, kind, name in held if kind == "collective")
            lines += [f"  {name}: {count}" for name, count in counts.items()]
            for _, _, kind, name in held:
                shown = noise_level >= 3 or not name.startswith(TRIVIAL)
                if kind == "operator" and noise_level > 0 and shown:
                    lines.append(f"    {name}")
        return "\n".join([*lines, f"all: {dict(self._counts)}"])

    def log_comm_debug_tracing_table_to_file(
        self, file_name: str = "comm_mode_log.txt", noise_level: int = 3
    ) -> None:
        """Write the table into a file."""
        with atomic_write(file_name) as file:
            file.write(self.generate_comm_debug_tracing_table(noise_level).encode() + b"\n")

    def generate_json_dump(
        self, file_name: str = "comm_mode_log.json", noise_level: int = 3
    ) -> None:
        """Write what happened into a file as JSON: a list of modules with their collectives and operators."""
        made = []
        for (where, back), group in itertools.groupby(self._events, key=lambda event: event[:2]):
            held = list(group)
            operators = [name for _, _, kind, name in held if kind == "operator"]
            if noise_level < 3:
                operators = [name for name in operators if not name.startswith(TRIVIAL)]
            made.append(
                {
                    "module": where,
                    "pass": "backward" if back else "forward",
                    "collectives": [name for _, _, kind, name in held if kind == "collective"],
                    "operators": operators if noise_level > 0 else [],
                }
            )
        with atomic_write(file_name) as file:
            file.write(json.dumps(made, indent=1).encode())


def visualize_sharding(dtensor: DTensor, header: str = "", use_rich: bool = False) -> None:
    """Print which ranks hold which rows and columns of a DTensor of one or two dimensions.

    Nothing for one without elements. RuntimeError for more dimensions; `use_rich` is taken and makes
    no difference.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, distribute_tensor
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> visualize_sharding(distribute_tensor(taeda.ones(4, 3), mesh, [Shard(0)]))
              columns 0-2
    rows 0-3  cpu: 0
    >>> dist.destroy_process_group()
    """
    if not isinstance(dtensor, DTensor):
        raise TypeError(f"visualize_sharding takes a DTensor, not {type(dtensor).__name__}")
    if dtensor.ndim == 0 or dtensor.numel() == 0:
        return
    if dtensor.ndim > 2:
        raise RuntimeError("visualize_sharding is for one or two dimensions")
    spec, mesh = dtensor._spec, dtensor.device_mesh
    if header:
        print(header)
    cells: dict[tuple[Any, ...], list[int]] = {}
    for place in itertools.product(*map(range, mesh.shape)):
        offsets, sizes = spec.box_at(place)
        box = tuple((begin, begin + size) for begin, size in zip(offsets, sizes, strict=True))
        if all(end > begin for begin, end in box):
            cells.setdefault(box, []).append(int(mesh.mesh[place]))
    rows = sorted({box[0] for box in cells})
    columns = sorted({box[1] for box in cells}) if dtensor.ndim == 2 else [None]
    head = [""] + [_range("columns", column) for column in columns]
    table = [head] if dtensor.ndim == 2 else []
    for row in rows:
        line = [_range("rows", row)]
        for column in columns:
            ranks = cells.get((row,) if column is None else (row, column), [])
            line.append(f"{mesh.device_type}: {', '.join(map(str, ranks))}")
        table.append(line)
    widths = [max(len(line[place]) for line in table) for place in range(len(table[0]))]
    for line in table:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )


def _range(name: str, bounds: Any) -> str:
    return "" if bounds is None else f"{name} {bounds[0]}-{bounds[1] - 1}"
