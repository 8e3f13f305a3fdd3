"""Products of ggml, the library below llama.cpp, by its C interface: what packed_peers.py compares with.

No distribution of Python holds ggml's libraries alone. The sources of llama-cpp-python hold ggml's, and CMake
builds them from vendor/llama.cpp/ggml into libggml-base and libggml-cpu.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Pointer, Size, Int = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
FLOAT32, Q4_0, Q8_0 = 0, 2, 8
BYTES = {Q4_0: 18, Q8_0: 34}  # of 32 numbers
#: orders of blocks that ggml has for processors of x86 (asked for others it reads a null pointer)
TURNED = {("CPU_REPACK", Q4_0), ("AMX", Q4_0), ("AMX", Q8_0)}


class _Room(ctypes.Structure):
    _fields_ = (("size", Size), ("memory", Pointer), ("only_names", ctypes.c_bool))


#: functions that are called: what they return, what they take
CALLS: dict[str, tuple[object, list[object]]] = {
    "ggml_init": (Pointer, [_Room]),
    "ggml_new_tensor_2d": (Pointer, [Pointer, ctypes.c_int, Int, Int]),
    "ggml_mul_mat": (Pointer, [Pointer, Pointer, Pointer]),
    "ggml_new_graph": (Pointer, [Pointer]),
    "ggml_build_forward_expand": (None, [Pointer, Pointer]),
    "ggml_backend_alloc_ctx_tensors_from_buft": (Pointer, [Pointer, Pointer]),
    "ggml_backend_alloc_ctx_tensors": (Pointer, [Pointer, Pointer]),
    "ggml_backend_buft_name": (ctypes.c_char_p, [Pointer]),
    "ggml_backend_tensor_set": (None, [Pointer, ctypes.c_char_p, Size, Size]),
    "ggml_backend_tensor_get": (None, [Pointer, ctypes.c_char_p, Size, Size]),
    "ggml_backend_graph_compute": (ctypes.c_int, [Pointer, Pointer]),
    "ggml_backend_reg_dev_get": (Pointer, [Pointer, Size]),
    "ggml_backend_reg_get_proc_address": (Pointer, [Pointer, ctypes.c_char_p]),
    "ggml_backend_cpu_init": (Pointer, []),
    "ggml_backend_cpu_reg": (Pointer, []),
    "ggml_backend_cpu_set_n_threads": (None, [Pointer, ctypes.c_int]),
}


class Ggml:
    """Its libraries below `folder`."""

    def __init__(self, folder: str, threads: int) -> None:
        found = {path.name: path for path in Path(folder).rglob("libggml-*.so*")}
        parts = [
            ctypes.CDLL(str(found[f"libggml-{name}.so"]), ctypes.RTLD_GLOBAL)
            for name in ("base", "cpu")
        ]
        self.c: Any = SimpleNamespace()  # functions of CALLS
        for name, (gives, takes) in CALLS.items():
            function: Any = next(getattr(part, name) for part in parts if hasattr(part, name))
            function.restype, function.argtypes = gives, takes
            setattr(self.c, name, function)
        self.backend = self.c.ggml_backend_cpu_init()
        self.c.ggml_backend_cpu_set_n_threads(self.backend, threads)

    def _fresh(self) -> int:
        return int(self.c.ggml_init(_Room(1 << 20, None, True)))

    def layouts(self, kind: int) -> dict[str, int]:
        """Kinds of memory in which a weight lies in another order: those of this processor."""
        registry = self.c.ggml_backend_cpu_reg()
        address = self.c.ggml_backend_reg_get_proc_address(
            registry, b"ggml_backend_dev_get_extra_bufts"
        )
        if not address:
            return {}
        ask = ctypes.CFUNCTYPE(ctypes.POINTER(Pointer), Pointer)(address)
        each = ask(self.c.ggml_backend_reg_dev_get(registry, 0))
        found: dict[str, int] = {}
        for place in each:
            if not place:  # the list ends with NULL
                break
            name = self.c.ggml_backend_buft_name(place).decode()
            if (name, kind) in TURNED:
                found[name] = place
        return found

    def product(
        self, kind: int, n: int, k: int, blocks: bytes, x: bytes, layout: int | None = None
    ) -> tuple[Callable[[], object], Callable[[], bytes]]:
        """What multiplies float32 numbers `x` of a row by n rows of blocks, and what gives its numbers."""
        weights, rest = self._fresh(), self._fresh()
        weight = self.c.ggml_new_tensor_2d(weights, kind, k, n)
        if layout:
            self.c.ggml_backend_alloc_ctx_tensors_from_buft(weights, layout)
        else:
            self.c.ggml_backend_alloc_ctx_tensors(weights, self.backend)
        self.c.ggml_backend_tensor_set(weight, blocks, 0, len(blocks))
        vector = self.c.ggml_new_tensor_2d(rest, FLOAT32, k, len(x) // (4 * k))
        out = self.c.ggml_mul_mat(rest, weight, vector)
        graph = self.c.ggml_new_graph(rest)
        self.c.ggml_build_forward_expand(graph, out)
        self.c.ggml_backend_alloc_ctx_tensors(rest, self.backend)
        self.c.ggml_backend_tensor_set(vector, x, 0, len(x))

        def numbers() -> bytes:
            room = ctypes.create_string_buffer(n * len(x) // k)
            self.c.ggml_backend_tensor_get(out, room, 0, len(room))
            return room.raw

        return lambda: self.c.ggml_backend_graph_compute(self.backend, graph), numbers
