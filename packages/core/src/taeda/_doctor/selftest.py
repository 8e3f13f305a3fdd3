"""The self-test: runs the checks of all parts that are installed.

A check is a function without arguments. It returns a few words on what it saw, and raises if that
is not right.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

from .parts import modules

__all__ = ["run"]


def _checks() -> list[tuple[str, Callable[[], str]]]:
    return [pair for module in modules() for pair in module.CHECKS.items()]


def run(show: Callable[[str], None]) -> bool:
    """Run every check and show a line on each, with the traceback of those that fail. Whether all passed."""
    passed = True
    for name, check in _checks():
        begun = time.perf_counter()
        try:
            words = f"ok      {check()}"
        except Exception:  # noqa: BLE001 - whatever a check raises is what the user has to see
            words = f"FAILED\n{traceback.format_exc()}"
            passed = False
        show(f"  {name:<28}  {1e3 * (time.perf_counter() - begun):6.0f} ms  {words}")
    return passed
