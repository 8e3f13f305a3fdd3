"""The operators of nn, which have no public name of their own; operators that are defined at run
time, and rules for them.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from taeda._library.custom_ops import CustomOpDef
from taeda._library.operators import OpOverload, OpOverloadPacket
from taeda._library.table import rule_of
from taeda._native import core as _core

__all__ = ["CustomOpDef", "OpOverload", "OpOverloadPacket", "nn", "rule_of"]

#: by name, as the table has them in its namespace "nn": `nn.linear(x, weight)`
nn: Any = SimpleNamespace(**_core.functions["nn"])
