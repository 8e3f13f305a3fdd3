"""Honest timing: replicates, comparisons in turns, tables, and instruction counts."""

from __future__ import annotations

from ._units import select_unit, trim_sigfig, unit_to_english
from .callgrind import CallgrindStats, CopyIfCallgrind
from .compare import Compare
from .function_counts import FunctionCount, FunctionCounts
from .interleave import Interleaved, interleave
from .measurement import Measurement, TaskSpec, ordered_unique
from .timer import Language, Timer, timer

__all__ = [
    "CallgrindStats",
    "Compare",
    "CopyIfCallgrind",
    "FunctionCount",
    "FunctionCounts",
    "Interleaved",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "interleave",
    "ordered_unique",
    "select_unit",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
