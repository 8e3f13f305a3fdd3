"""Walks through nested objects without recursion, so that a deep one needs no deep stack of Python's."""

from __future__ import annotations

from collections.abc import Generator
from types import GeneratorType
from typing import Any

__all__ = ["DEEPEST", "GeneratorType", "Steps", "drive"]

DEEPEST = 1000  # containers inside each other, in files of every form

#: yields the steps to each part, and is sent what came of them
Steps = Generator[Any, Any, Any]


def drive(steps: Steps, too_deep: Exception, most: int = DEEPEST) -> Any:
    """What the steps return; `too_deep` is raised where more than `most` of them wait for others."""
    open_now, made = [steps], None
    while open_now:
        try:
            inner = open_now[-1].send(made)
        except StopIteration as end:
            open_now.pop()
            made = end.value
            continue
        if len(open_now) >= most:
            raise too_deep
        open_now.append(inner)
        made = None
    return made
