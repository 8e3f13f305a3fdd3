"""Private modules of torch that libraries import all the same, for `install_as_torch`: what each
name means here.
"""

from __future__ import annotations

import contextlib
import importlib
from types import ModuleType
from typing import Any

import taeda
from taeda._layers import AUTOCAST, hidden

__all__ = ["FILLED", "MODULES", "made"]


def _same(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without, that leaves a function as it is: nothing here looks into it."""
    if callable(function):
        return function
    return lambda given: given


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Advice to a tracer, of which there is none."""


class _NoObject:
    """A class of which there are no objects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(f"{type(self).__module__}.{type(self).__name__} does not exist in taeda")


def _class(name: str, module: str) -> type:
    return type(name, (_NoObject,), {"__module__": module})


class _Key:
    """Names of dispatch keys: each is itself, as text."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class _KeySet(frozenset[str]):
    """Dispatch keys by name."""

    def __new__(cls, key: str | frozenset[str] = "") -> _KeySet:
        return super().__new__(cls, key if isinstance(key, frozenset) else {key} - {""})

    def __or__(self, other: Any) -> _KeySet:
        return _KeySet(super().__or__(other))

    def has(self, key: str) -> bool:
        """Whether the key is one of them."""
        return key in self


class _Excluded(contextlib.AbstractContextManager[None]):
    """Within the block calls pass by these layers: autocast is one here, other keys are refused."""

    def __init__(self, keys: _KeySet) -> None:
        if others := sorted(key for key in keys if not key.startswith("Autocast")):
            raise RuntimeError(
                f"taeda has no dispatch keys, and no layer that is {', '.join(others)}"
            )
        self._hidden = hidden(*[AUTOCAST] * bool(keys))

    def __enter__(self) -> None:
        self._hidden.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._hidden.__exit__(*raised)


def _parse_to(*args: Any, **kwargs: Any) -> Any:
    """The device, dtype, non_blocking and memory format of a call `.to(...)`."""
    from taeda.nn.modules._convert import parse_to  # upward: a library moves a module of it

    return parse_to(*args, **kwargs)


def _is_profiled() -> bool:
    """Whether this thread is profiled."""
    from taeda.profiler import _collect  # upward: it exists where somebody profiles

    return _collect.is_recording()


def _end_profile() -> None:
    """End the profile of this thread, if there is one."""
    from taeda.profiler import _collect  # upward: it exists where somebody profiles

    _collect.stop_recording()


def _device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The ordinal of a device: -1 for the cpu, if allowed; ValueError where there is none to tell."""
    if isinstance(device, int):
        return device
    named = None if device is None else taeda.device(device)
    if named is not None and named.type == "cpu" and allow_cpu:
        return -1
    if named is not None and named.index is not None:
        return named.index
    if optional:
        return None
    raise ValueError(f"Expected a device with an index, got {device!r}")


_SCRIPT = {
    name: _class(name, "torch.jit")
    for name in ("ScriptModule", "ScriptFunction", "RecursiveScriptModule", "TopLevelTracedModule")
}
#: names of public modules that libraries name at import, in annotations or as decorators, where ours has none
FILLED: dict[str, dict[str, Any]] = {
    "": {"ScriptModule": _SCRIPT["ScriptModule"]},
    "cuda": {name: _class(name, "torch.cuda") for name in ("CUDAGraph", "Event", "Stream",
        "StreamContext", "graph")},
    "serialization": {"MAP_LOCATION": Any},  # what `map_location` may be, in annotations
    "autograd": {"_profiler_enabled": _is_profiled, "_disable_profiler": _end_profile},
    "compiler": {
        "allow_in_graph": _same, "assume_constant_result": _same, "cudagraph_mark_step_begin": _nothing,
        "substitute_in_graph": lambda original, **options: _same,
    },
}  # fmt: skip
#: names by private module; a module is a package if another one lies below it
MODULES: dict[str, dict[str, Any]] = {
    "torch._dynamo": {
        "allow_in_graph": _same, "assume_constant_result": _same, "disable": _same,
        "is_compiling": lambda: False, "mark_dynamic": _nothing,
        "mark_static": _nothing, "mark_static_address": _nothing, "reset": _nothing, "graph_break": _nothing,
        "OptimizedModule": _class("OptimizedModule", "torch._dynamo"),
    },
    "torch._dynamo.eval_frame": {"OptimizedModule": "taeda.compiler:OptimizedModule",
        "is_dynamo_supported": lambda: True},
    "torch._dynamo.utils": {"is_compile_supported": lambda device_type: device_type == "cpu"},
    # torchvision's quantized models, which are imported with the others
    "torch.ao": {},
    "torch.ao.quantization": {name: _class(name, "torch.ao.quantization") for name in ("QuantStub",
        "DeQuantStub")},
    # nothing is one of these, which is what libraries ask
    "torch.distributed.tensor": {"DTensor": _class("DTensor", "torch.distributed.tensor")},
    "torch.distributed._tensor": {"DTensor": "torch.distributed.tensor:DTensor"},
    "torch._C": {"DispatchKey": _Key(), "DispatchKeySet": _KeySet, "_ExcludeDispatchKeyGuard": _Excluded},
    # how an exporter writes operators of theirs: there is none, so nobody will ask
    "torch.onnx": {"register_custom_op_symbolic": _nothing, "is_in_onnx_export": lambda: False},
    "torch.onnx.symbolic_helper": {"parse_args": lambda *kinds: _same},
    "torch.onnx.symbolic_opset11": {},
    "torch.jit": {**_SCRIPT, "_script_if_tracing": _same, "_overload": _same, "_overload_method": _same},
    "torch.jit._script": _SCRIPT,
    "torch.jit.annotations": {"List": list, **{f"BroadcastingList{n}": list for n in (1, 2, 3)}},
    "torch._C._nn": {"_parse_to": _parse_to},
    "torch._custom_ops": {"impl_abstract": "taeda.library:register_fake"},
    "torch._utils": {
        "_get_device_index": _device_index, "_element_size": lambda dtype: dtype.itemsize,
    },
    # indexing by a tensor under vmap needs no help here
    "torch._dynamo._trace_wrapped_higher_order_op": {"TransformGetItemToIndex": contextlib.nullcontext},
}  # fmt: skip


def made(name: str) -> ModuleType:
    """A module of the table; what is named as "module:name" is fetched, and left out where its
    package is not installed.
    """
    module = ModuleType(name, f"{name}, as far as libraries name it: see taeda.install_as_torch.")
    for key, value in MODULES[name].items():
        if isinstance(value, str):
            place, _, wanted = value.partition(":")
            with contextlib.suppress(ModuleNotFoundError):
                module.__dict__[key] = getattr(importlib.import_module(place), wanted)
        else:
            module.__dict__[key] = value
    return module
