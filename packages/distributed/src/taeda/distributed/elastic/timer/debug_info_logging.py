"""A line in the log for limits that have passed."""

from __future__ import annotations

import logging

__all__ = ["log_debug_info_for_expired_timers"]

_log = logging.getLogger(__name__)


def log_debug_info_for_expired_timers(run_id: str, expired_timers: dict[str, list[str]]) -> None:
    """Log which workers stayed too long in which blocks.

    >>> log_debug_info_for_expired_timers("job-7", {"4711": ["forward"]})  # at the level INFO
    """
    if expired_timers:
        _log.info("timers expired for %s: %s", run_id, expired_timers)
