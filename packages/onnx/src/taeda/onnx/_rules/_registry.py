"""Which function translates which row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["FRESH", "RULES", "rule"]

RULES: dict[str, Callable[..., Any]] = {}
FRESH: set[str] = set()  # rows whose result has memory of its own


def rule(*rows: str, fresh: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function of (context, arguments of the row) for rows such as `add.Tensor`."""

    def enter(made: Callable[..., Any]) -> Callable[..., Any]:
        for row in rows:
            name = row if "." in row else f"{row}.default"
            assert name not in RULES, name
            RULES[name] = made
            if fresh:
                FRESH.add(name)
        return made

    return enter
