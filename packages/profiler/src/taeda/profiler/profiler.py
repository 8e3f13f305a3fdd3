"""The names of `taeda.profiler` where older programs import them from."""

from __future__ import annotations

from ._profile import _KinetoProfile, profile
from ._schedule import ProfilerAction, schedule
from ._schedule import always as _default_schedule_fn
from ._settings import ProfilerActivity, supported_activities
from ._trace import tensorboard_trace_handler

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_ = _default_schedule_fn, _KinetoProfile  # names that programs use
