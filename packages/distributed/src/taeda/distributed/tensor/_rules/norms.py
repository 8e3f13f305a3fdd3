"""Layers that normalise: leading dimensions may be cut, and gradients of weights are terms then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..placement_types import Partial, Shard
from ._call import Call, Made, Strategy, rule

__all__ = ["leading"]

P = Partial()


def leading(call: Call, name: str) -> int:
    """How many dimensions stand before the normalised ones."""
    count: int = call[name].ndim - len(call["normalized_shape"])
    return count


@rule("native_layer_norm _fused_rms_norm")
def normalised(call: Call) -> Iterator[Strategy]:
    """The leading dimensions."""
    for dim in range(leading(call, "input")):
        yield call.strategy({"input": Shard(dim)}, Shard(dim))


@rule("native_layer_norm_backward")
def layer_norm_backward(call: Call) -> Iterator[Strategy]:
    """The leading dimensions."""
    for dim in range(leading(call, "input")):
        ins = dict.fromkeys(("grad_out", "input", "mean", "rstd"), Shard(dim))
        yield call.strategy(ins, (Shard(dim), P, P))


@rule("_fused_rms_norm_backward")
def rms_norm_backward(call: Call) -> Iterator[Strategy]:
    """The leading dimensions."""
    for dim in range(leading(call, "input")):
        ins = dict.fromkeys(("grad_out", "input", "rstd"), Shard(dim))
        yield call.strategy(ins, (Shard(dim), P))


@rule("native_group_norm")
def group_norm(call: Call) -> Iterator[Strategy]:
    """The samples."""
    if call.values[0].ndim and call.outs[0] and call.values[0].shape[0] == call["N"]:
        yield call.strategy({"input": Shard(0)}, Shard(0), fn=_samples)


@rule("native_group_norm_backward")
def group_norm_backward(call: Call) -> Iterator[Strategy]:
    """The samples."""
    if call["input"].shape[0] == call["N"]:
        ins = dict.fromkeys(("grad_out", "input", "mean", "rstd"), Shard(0))
        yield call.strategy(ins, (Shard(0), P, P), fn=_samples)


def _samples(made: Made) -> Any:
    return made.run(N=made.args["input"].shape[0])
