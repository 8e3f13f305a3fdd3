"""What started processes run in tests: they import it by name, which a test file's functions are not."""

from __future__ import annotations

from typing import Any

import taeda


class Marked(taeda.Tensor):
    """A subclass with attributes of its own."""


def echo(inbox: Any, outbox: Any) -> None:
    """Send back what arrives, until None comes."""
    while (value := inbox.get()) is not None:
        outbox.put(value)


def fill(tensors: list[Any], value: float) -> None:
    """Write into every tensor."""
    for tensor in tensors:
        tensor.detach().fill_(value)
