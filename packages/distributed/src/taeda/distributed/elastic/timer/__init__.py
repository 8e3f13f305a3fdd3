"""Limits on parts of a program: a process that stays in one too long is ended by its agent.

>>> from taeda.distributed.elastic import timer
>>> timer.configure(timer.LocalTimerClient(__import__("queue").Queue()))
>>> with timer.expires(after=60):
...     pass
"""

from .api import TimerClient, TimerRequest, TimerServer, configure, expires
from .debug_info_logging import log_debug_info_for_expired_timers
from .file_based_local_timer import FileTimerClient, FileTimerServer
from .local_timer import LocalTimerClient, LocalTimerServer

__all__ = [
    "FileTimerClient",
    "FileTimerServer",
    "LocalTimerClient",
    "LocalTimerServer",
    "TimerClient",
    "TimerRequest",
    "TimerServer",
    "configure",
    "expires",
    "log_debug_info_for_expired_timers",
]
