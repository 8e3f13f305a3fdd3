"""What processes of the elastic tests run: a module that a started process can import, which a test
file is not.
"""

from __future__ import annotations

import time
from typing import Any

from taeda.distributed.elastic import timer

__all__ = ["double", "sleeper"]


def double(number: int) -> int:
    if number < 0:
        raise ValueError("too little")
    return 2 * number


def sleeper(queue: Any) -> None:
    """Sleep longer than a timer allows; the first timer is let go in time."""
    timer.configure(timer.LocalTimerClient(queue))
    with timer.expires(after=60):
        pass
    with timer.expires(after=0.1):
        time.sleep(60)
