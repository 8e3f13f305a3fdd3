"""The operators of nn, which have no public name of their own; operators that are defined at run
time, and rules for them; functions of several steps on 16-bit floats.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from taeda._layers.planned import forget_plans, hold_plans, plan_calls, result_in_parts
from taeda._library.custom_ops import CustomOpDef
from taeda._library.operators import OpOverload, OpOverloadPacket
from taeda._library.table import rule_of
from taeda._native import core as _core
from taeda._short_floats import rounded_once, widened

__all__ = [
    "CustomOpDef",
    "OpOverload",
    "OpOverloadPacket",
    "forget_plans",
    "hold_plans",
    "nn",
    "plan_calls",
    "result_in_parts",
    "rounded_once",
    "rule_of",
    "widened",
]

#: by name, as the table has them in its namespace "nn": `nn.linear(x, weight)`
nn: Any = SimpleNamespace(**_core.functions["nn"])
