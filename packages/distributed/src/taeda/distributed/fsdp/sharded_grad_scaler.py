"""Loss scaling where every rank has a part of the gradients: all ranks leave out the same steps."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda.amp import GradScaler

from .._collectives import all_reduce
from .._setup import is_initialized
from .._types import ReduceOp
from ..tensor import DTensor

__all__ = ["ShardedGradScaler"]


class ShardedGradScaler(GradScaler):
    """A `GradScaler` that leaves out a step on all ranks if a gradient overflowed on one of them.

    device: "cpu" or "cuda". init_scale: the first scale. backoff_factor: what the scale is multiplied
    by after an overflow, below 1. growth_factor: after `growth_interval` steps without, above 1.
    enabled: False lets everything pass. process_group: the ranks that agree, by default all of them;
    without a group it is a `GradScaler`.

    >>> scaler = ShardedGradScaler("cpu", init_scale=8.0)
    >>> scaler.get_scale()
    8.0
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        backoff_factor: float = 0.5,
        growth_factor: float = 2.0,
        growth_interval: int = 2000,
        enabled: bool = True,
        process_group: Any = None,
    ) -> None:
        super().__init__(
            device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
        self.process_group = process_group

    def _unscale(self, optimizer: Any, scale: Tensor, progress: Any) -> None:  # type: ignore[override]  # static there
        super()._unscale(optimizer, scale, progress)
        progress.found = self._on_any_rank(progress.found, scale)

    def _on_any_rank(self, found: list[Tensor], scale: Tensor) -> list[Tensor]:
        """One answer for all ranks, also those that have no gradient: else these would not wait for it."""
        answer = taeda.zeros(2, device=scale.device)  # did one overflow; was there one
        for one in found:
            whole = one.full_tensor() if isinstance(one, DTensor) else one
            answer = answer.maximum(taeda.stack([whole, taeda.ones_like(whole)]).to(answer.device))
        if is_initialized():
            all_reduce(answer, ReduceOp.MAX, group=self.process_group)
        return [answer[0]] if bool(answer[1]) else []
