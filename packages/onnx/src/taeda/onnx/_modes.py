"""Names that the classic arguments take, and whether an export runs."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from enum import IntEnum

from taeda import nn

__all__ = [
    "OperatorExportTypes", "TrainingMode", "is_in_onnx_export", "select_model_mode_for_export"
]  # fmt: skip


class TrainingMode(IntEnum):
    """In which mode a module is exported.

    >>> [mode.name for mode in TrainingMode]
    ['EVAL', 'PRESERVE', 'TRAINING']
    """

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """Which operators a model may hold. There is ONNX alone; the others are refused.

    >>> OperatorExportTypes.ONNX.value
    0
    """

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


_state = threading.local()


def is_in_onnx_export() -> bool:
    """Whether `export` is tracing a program in this thread.

    >>> is_in_onnx_export()
    False
    """
    return bool(getattr(_state, "depth", 0))


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """What runs in it is being exported."""
    _state.depth = getattr(_state, "depth", 0) + 1
    try:
        yield
    finally:
        _state.depth -= 1


@contextlib.contextmanager
def select_model_mode_for_export(model: nn.Module, mode: TrainingMode) -> Iterator[None]:
    """A module in the mode of training or evaluation; every part has its own mode again after.

    TypeError for a mode that is no `TrainingMode`.

    Args:
        model: the module
        mode: the mode that it has meanwhile

    >>> import taeda
    >>> model = taeda.nn.Dropout().train()
    >>> with select_model_mode_for_export(model, TrainingMode.EVAL):
    ...     model.training
    False
    >>> model.training
    True
    """
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"training must be a TrainingMode, got {mode!r:.100}")
    before = [(part, part.training) for part in model.modules()]
    try:
        if mode is not TrainingMode.PRESERVE:
            model.train(mode is TrainingMode.TRAINING)
        yield
    finally:
        for part, training in before:
            part.training = training
