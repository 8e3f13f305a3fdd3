"""An execution trace: each operation as a node with the tensors that it read and made, as JSON that
replays and simulators of the Chakra schema read.
"""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Callable
from typing import Any, Self

from taeda import Tensor
from taeda._core_api.files import atomic_write
from taeda._core_api.programs import tracers

from ._tensors import storage_of
from ._texts import operation

__all__ = ["ExecutionTraceObserver"]

SCHEMA = "1.1.1-chakra.0.0.4"
ROOT = 1


class ExecutionTraceObserver:
    """Writes what this thread runs between `start` and `stop` to the file of `register_callback`.

    As `execution_trace_observer` of a profile it observes the steps that the profile records. Each
    node has a name, the node around it (`ctrl_deps`), and for inputs and outputs values, shapes and
    types; a tensor is [id, id of its storage, offset, elements, bytes an element, device].

    >>> import json, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "trace.json")
    >>> with ExecutionTraceObserver().register_callback(path):
    ...     _ = taeda.ones(2, 3).exp()
    >>> with open(path) as file:
    ...     [node["name"] for node in json.load(file)["nodes"][1:]]
    ['aten::ones', 'aten::exp']
    """

    def __init__(self) -> None:
        self._path: str | None = None
        self._nodes: list[dict[str, Any]] = []
        self._open: list[int] = []
        self._ids: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        self._count = 0
        self._running = False
        self._begun = 0

    # ---- the file ----

    def register_callback(self, output_file_path: str | os.PathLike[str]) -> Self:
        """Write to this file, when the observation stops. RuntimeError while it runs."""
        if self._running:
            raise RuntimeError("ExecutionTraceObserver: stop it before it gets another file")
        self._path = os.path.abspath(output_file_path)
        return self

    def unregister_callback(self) -> None:
        """Stop, and know no file any more."""
        self.stop()
        self._path = None

    def get_output_file_path(self) -> str | None:
        """The file, or None."""
        return self._path

    @property
    def is_registered(self) -> bool:
        """Whether there is a file."""
        return self._path is not None

    def is_running(self) -> bool:
        """Whether it observes."""
        return self._running

    def cleanup(self) -> None:
        """As `unregister_callback`."""
        self.unregister_callback()

    # ---- begin and end ----

    def start(self) -> None:
        """Observe from now on; nothing without a file, or when it observes already."""
        if self._path is not None and not self._running:
            root = {
                "id": ROOT,
                "name": "[pytorch|profiler|execution_trace|process]",
                "ctrl_deps": 0,
            }
            self._nodes, self._open, self._ids = [root], [ROOT], {}
            self._running, self._begun = True, time.time_ns()
            tracers.push(self)

    def stop(self) -> None:
        """Write the file, whole or not at all; nothing when it does not observe."""
        if not self._running:
            return
        self._running = False
        tracers.remove(self)
        assert self._path is not None
        trace = {
            "schema": SCHEMA, "pid": os.getpid(), "time": time.strftime("%Y-%m-%d %H:%M:%S"),
            "start_ts": self._begun, "nodes": self._nodes, "finish_ts": time.time_ns(),
        }  # fmt: skip
        with atomic_write(self._path) as file:
            file.write(json.dumps(trace).encode())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    # ---- the tracer's part ----

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        """Run one kernel and note it."""
        node: dict[str, Any] = {
            "id": ROOT + len(self._nodes),
            "name": operation(op),
        }
        self._nodes.append(node)
        node["ctrl_deps"] = self._open[-1]
        node["inputs"] = self._described(args)  # before a kernel writes into one
        self._open.append(node["id"])
        try:
            made = run()
        finally:
            self._open.pop()
        node["outputs"] = self._described(made if isinstance(made, (tuple, list)) else (made,))
        node["attrs"] = [{"name": "op_schema", "type": "string", "value": op}]
        return made

    def _described(self, values: Any) -> dict[str, list[Any]]:
        return {
            "values": [self._value(value) for value in values],
            "shapes": [_shape(value) for value in values],
            "types": [_type(value) for value in values],
        }

    def _value(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            storage = storage_of(value)
            place = (0, 0) if storage is None else (storage.data_ptr(), value.storage_offset())
            number = self._number(value)
            return [number, *place, value.numel(), value.element_size(),
                    str(value.device)]  # fmt: skip
        if isinstance(value, (list, tuple)):
            return [self._value(item) for item in value]
        return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)

    def _number(self, tensor: Tensor) -> int:
        """The same for one tensor; another lies at its address when it is gone."""
        known = self._ids.get(id(tensor))
        if known is None or known[0]() is not tensor:
            self._count += 1
            known = self._ids[id(tensor)] = weakref.ref(tensor), self._count
        return known[1]


def _shape(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return list(value.shape)
    return [_shape(item) for item in value] if isinstance(value, (list, tuple)) else []


def _type(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"Tensor({str(value.dtype).partition('.')[2]})"
    if isinstance(value, (list, tuple)):
        return f"GenericList[{','.join(map(_type, value))}]"
    names = {bool: "Bool", int: "Int", float: "Double", str: "String", type(None): "None"}
    return names.get(type(value), type(value).__name__)
