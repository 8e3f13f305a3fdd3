"""Fake quantization with an observer, whose state each sample must have of its own."""

from __future__ import annotations

from typing import Any

from ._batched import Level
from ._registry import Decline, rule

__all__: list[str] = []


@rule("fused_moving_avg_obs_fake_quant")
def _observed(
    level: Level, func: Any, x: Any, observer_on: Any, fake_quant_on: Any, *args: Any, **kwargs: Any
) -> Any:
    state = (*args, *kwargs.values())[:4]
    if not all(level.on(t) for t in state):
        raise RuntimeError(
            "vmap: fused_moving_avg_obs_fake_quant would update running statistics, which are the same for "
            "all samples, with those of each. Give each sample its own, or call it outside of vmap"
        )
    raise Decline
