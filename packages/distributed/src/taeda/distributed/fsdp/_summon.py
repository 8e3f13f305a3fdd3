"""Whole parameters in the modules for a while, and back into shards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import taeda
from taeda import Tensor, nn

from .._setup import get_rank
from ..tensor._api import DTensor
from ._unit import Unit

__all__ = ["summoned"]


@contextlib.contextmanager
def summoned(
    units: Sequence[Unit], writeback: bool, rank0_only: bool, grads: bool
) -> Iterator[None]:
    """Whole parameters of these units in their modules. All ranks enter it."""
    for unit in units:
        assert not unit.busy, "summon_full_params inside a forward or backward of the module"
    wholes = [_wholes(unit, grads) for unit in units]
    if not rank0_only or get_rank() == 0:
        for unit, params in zip(units, wholes, strict=True):
            unit._register(params)
    try:
        yield
    finally:
        for unit, params in zip(units, wholes, strict=True):
            if writeback:
                with taeda.no_grad():
                    _write_back(unit, params, grads)
            unit.hide()


def _wholes(unit: Unit, grads: bool) -> list[Tensor]:
    made: list[Tensor] = []
    for param, whole, shard in zip(unit.params, unit.gather(), unit.shards, strict=True):
        dressed = param.dressed(whole.detach())
        one = nn.Parameter(dressed, shard.requires_grad)
        if grads and shard.grad is not None:
            one.grad = shard.grad.full_tensor().to(one.dtype)
        made.append(one)
    return made


def _write_back(unit: Unit, params: Sequence[Tensor], grads: bool) -> None:
    for shard, whole in zip(unit.shards, params, strict=True):
        if not isinstance(whole, DTensor):
            shard._local.copy_(shard._shard_of(whole.detach())._local)
        if grads and whole.grad is not None:
            shard.grad = shard._shard_of(whole.grad.detach())
