"""The operators of nn, which have no public name of their own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from taeda._native import core as _core

__all__ = ["nn"]

#: by name, as the table has them in its namespace "nn": `nn.linear(x, weight)`
nn: Any = SimpleNamespace(**_core.functions["nn"])
