"""Exceptions that end a recording, a graph or the text of a chain, each with its reason."""

from __future__ import annotations

__all__ = [
    "PASSING",
    "CannotCopy",
    "NoText",
    "NoTrace",
    "NotLowered",
    "Refused",
    "Stop",
    "UserError",
]

PASSING = "passing: "  # reasons that another run may not have


class Stop(Exception):
    """Raised in a program with fullgraph=True where its graph would break."""


class CannotCopy(Exception):
    """Why there is no copy of a function."""


class Refused(Exception):
    """Why a call cannot be one of a graph."""


class NoTrace(Exception):
    """Why a recorded run gives no program."""


class NotLowered(Exception):
    """Why a recorded program cannot be written as a graph of public operators."""


class NoText(Exception):
    """Why a chain has no text."""


class UserError(RuntimeError):
    """A call that a graph cannot have as the program writes it: the text says what to write."""
