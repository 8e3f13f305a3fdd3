"""Learning rate schedules: after each epoch, or each step, `scheduler.step()` sets new rates."""

from __future__ import annotations

from ._base import LRScheduler
from ._combined import ChainedScheduler, SequentialLR
from ._cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._cyclic import CyclicLR
from ._decay import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ._one_cycle import OneCycleLR
from ._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

# pickles, reprs and error messages name the public place; files written before still find the old one
for _name in __all__:
    globals()[_name].__module__ = __name__


class _LRScheduler(LRScheduler):
    """The name of the base in old programs."""
