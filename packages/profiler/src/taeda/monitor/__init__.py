"""Events that a program logs, and statistics over windows of time, for whoever listens.

>>> import datetime
>>> from taeda import monitor
>>> seen = []
>>> handle = monitor.register_event_handler(seen.append)
>>> monitor.log_event(monitor.Event("epoch", datetime.datetime.now(), {"loss": 0.5}))
>>> seen[0].name, seen[0].data
('epoch', {'loss': 0.5})
>>> monitor.unregister_event_handler(handle)

    _events.py      events and their handlers
    _stats.py       statistics, an event for each window
    _tensorboard.py the handler that writes statistics for TensorBoard
"""

from __future__ import annotations

from ._events import (
    Event,
    EventHandlerHandle,
    data_value_t,
    log_event,
    register_event_handler,
    unregister_event_handler,
)
from ._stats import Aggregation, Stat
from ._tensorboard import TensorboardEventHandler

__all__ = [
    "Aggregation",
    "Event",
    "EventHandlerHandle",
    "Stat",
    "TensorboardEventHandler",
    "data_value_t",
    "log_event",
    "register_event_handler",
    "unregister_event_handler",
]
