"""The styles, under the path that libraries name."""

from __future__ import annotations

from ._prepare import PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput
from ._styles import ColwiseParallel, ParallelStyle, RowwiseParallel, SequenceParallel

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput",
    "PrepareModuleOutput", "RowwiseParallel", "SequenceParallel",
]  # fmt: skip
