"""Which operations a program spends its time on, with shapes, memory and places in the source where asked.

>>> import taeda
>>> from taeda.profiler import profile, record_function
>>> with profile(record_shapes=True) as prof:
...     with record_function("product"):
...         _ = taeda.ones(8, 8) @ taeda.ones(8, 8)
>>> [(event.key, event.count) for event in prof.key_averages()]
[('product', 1), ('aten::ones', 2), ('aten::matmul', 1)]

    _collect.py     what one thread runs while it is watched
    _events.py      the events, sums of them, the table
    _trace.py       files: a trace for Chrome or Perfetto, stacks for a flame graph
    _schedule.py    which steps of a long run are recorded
    _timeline.py    what memory held, over time
    _memory.py      who holds what now
    _observer.py    operations with their tensors, for replays
    _callbacks.py   callbacks around a sample of all operations
    _profile.py     the context that puts these together
    __main__.py     a whole script, with advice, as a page: `python -m taeda.profiler script.py`
"""

from __future__ import annotations

from . import itt, profiler
from ._callbacks import (
    OperatorCall,
    add_operator_callback,
    enable_operator_callbacks,
    remove_operator_callback,
)
from ._collect import record_function
from ._memory import Memory, memory, record_memory
from ._observer import ExecutionTraceObserver
from ._profile import _KinetoProfile, profile
from ._schedule import ProfilerAction, schedule
from ._settings import ProfilerActivity, kineto_available, supported_activities
from ._trace import tensorboard_trace_handler

__all__ = [
    "ExecutionTraceObserver",
    "Memory",
    "OperatorCall",
    "ProfilerAction",
    "ProfilerActivity",
    "add_operator_callback",
    "enable_operator_callbacks",
    "itt",
    "kineto_available",
    "memory",
    "profile",
    "profiler",
    "record_function",
    "record_memory",
    "remove_operator_callback",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_ = _KinetoProfile  # the name that programs derive from
