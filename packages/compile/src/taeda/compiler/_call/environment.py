"""What operations ask apart from their arguments: modes, defaults, regions of autocast."""

from __future__ import annotations

from typing import Any

import taeda
from taeda._core_api import programs as _core
from taeda._core_api.calls import region, switches

__all__ = ["environment", "left"]


def environment() -> tuple[Any, ...]:
    """What the graph of a call is for, next to its arguments."""
    return (
        _core.is_grad_enabled(), _core.is_inference_mode_enabled(), _core.get_default_dtype(),
        _core.get_default_device(),
        _core._get_anomaly(), _core.get_excluded(), taeda.are_deterministic_algorithms_enabled(),
        taeda.get_num_threads(), region(),
    )  # fmt: skip


def left() -> tuple[Any, ...]:
    """What a call may leave switched, which a graph would not do."""
    return *environment(), switches()
