"""The older interface of the profiler: `taeda.profiler` is the one to use. Comes with taeda-profiler."""

from __future__ import annotations

from taeda._core_api import lazy_attributes
from taeda.profiler._legacy import (  # upward: MissingDistribution says what to install
    EnforceUnique,
    EventList,
    FunctionEvent,
    KinetoStepTracker,
    emit_itt,
    emit_nvtx,
    load_nvprof,
    parse_nvprof_trace,
    profile,
    record_function,
)

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "emit_itt",
    "emit_nvtx",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]

__getattr__, __dir__ = lazy_attributes(__name__, {})  # names of PyTorch that are absent say so
