"""Momentum that goes against the rate: where an optimizer keeps it, and between which bounds."""

from __future__ import annotations

from typing import Any

from ..optimizer import Optimizer
from ._base import values_for_groups

__all__ = ["check_momentum", "set_momentum", "start_momenta"]


def check_momentum(optimizer: Optimizer) -> bool:
    """Whether momentum is the first of "betas" there; ValueError if there is none at all."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option enabled, and "
            f"{type(optimizer).__name__} has neither"
        )
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], value: float, use_beta1: bool) -> None:
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def start_momenta(
    optimizer: Optimizer, base: Any, most: Any, last_epoch: int, use_beta1: bool
) -> tuple[list[float], list[float]]:
    bases = values_for_groups(optimizer, base, "base_momentum")
    mosts = values_for_groups(optimizer, most, "max_momentum")
    if last_epoch == -1:
        for group, low, high in zip(optimizer.param_groups, bases, mosts, strict=True):
            set_momentum(group, high, use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low
    return bases, mosts
