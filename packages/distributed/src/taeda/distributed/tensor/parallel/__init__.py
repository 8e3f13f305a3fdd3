"""Tensor parallelism: how layers of a module are cut over the ranks of a mesh of one dimension."""

from __future__ import annotations

from ._loss import loss_parallel
from ._plan import parallelize_module
from ._prepare import PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput
from ._styles import ColwiseParallel, ParallelStyle, RowwiseParallel, SequenceParallel

__all__ = [
    "ColwiseParallel", "ParallelStyle", "PrepareModuleInput", "PrepareModuleInputOutput",
    "PrepareModuleOutput", "RowwiseParallel", "SequenceParallel", "loss_parallel",
    "parallelize_module",
]  # fmt: skip
