"""Losses: a mean over parts is a sum over the whole's count, and weights count for all ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor

from .._redistribute import reduced
from ..placement_types import Partial, Replicate, Shard
from ._call import Call, Made, Strategy, rule
from .pointwise import aligned

__all__ = ["NAMES"]

P, R = Partial(), Replicate()
NONE, MEAN, SUM = 0, 1, 2

NAMES = (
    "mse_loss _l1_loss smooth_l1_loss huber_loss soft_margin_loss _binary_cross_entropy "
    "_binary_cross_entropy_with_logits"
)


@rule(NAMES)
def forward(call: Call) -> Iterator[Strategy]:
    """Each dimension: without a reduction it cuts the result, else it leaves terms."""
    x, target = call["self"], call["target"]
    if x.shape != target.shape:
        return
    for dim in range(x.ndim):
        ins = {"self": Shard(dim), "target": Shard(dim)}
        if call["reduction"] == NONE:
            yield call.strategy(ins, Shard(dim))
        else:
            yield call.strategy(ins, P, fn=_summed)


def _summed(made: Made) -> Any:
    total = made.run(reduction=SUM)
    return total / math.prod(made.spec("self").shape) if made.args["reduction"] == MEAN else total


@rule(*(f"{name}_backward" for name in NAMES.split()))
def backward(call: Call) -> Iterator[Strategy]:
    """Each dimension."""
    x, target, grad = call["self"], call["target"], call["grad_output"]
    if x.shape != target.shape:
        return
    for dim in range(x.ndim):
        place = aligned(x.shape, dim, grad) or R
        ins = {"self": Shard(dim), "target": Shard(dim), "grad_output": place}
        yield call.strategy(ins, Shard(dim), fn=_backward)


def _backward(made: Made) -> Any:
    if made.args["reduction"] != MEAN:
        return made.run()
    made_sum = made.run(reduction=SUM)
    return made_sum / math.prod(made.spec("self").shape)


# ---- classes ----


@rule("nll_loss_forward _cross_entropy")
def classes(call: Call) -> Iterator[Strategy]:
    """The batch, and of `_cross_entropy` the classes."""
    x, entropy = call["self"], call.name == "_cross_entropy"
    if x.ndim < 2 or not x.dtype.is_floating_point:
        return
    if x.ndim == 2 or not entropy:
        own = call["reduction"] == NONE
        outs: tuple[Any, ...] = (Shard(0) if own else R, Shard(1), P if own else R)
        ins = {"self": Shard(0), "target": Shard(0)}
        yield call.strategy(ins, outs if entropy else (outs[0], outs[2]), fn=_batch)
    if x.ndim == 2 and entropy:
        yield call.strategy({"self": Shard(1)}, R, fn=_class_parts)


def _sum(made: Made, value: Tensor, op: str = "sum") -> Tensor:
    for dim in made.dims:
        value = reduced(value, Partial(op), made.call_mesh(), dim)
    return value


def _batch(made: Made) -> Any:
    """Sums of loss and weights over all ranks' rows, then the mean."""
    if made.args["reduction"] == NONE:
        return made.run()
    loss, *rest, total = made.run(reduction=SUM)
    both = _sum(made, taeda.stack([loss, total.to(loss.dtype)]))
    loss = both[0] / both[1] if made.args["reduction"] == MEAN else both[0].clone()
    return (loss, *rest, both[1].clone())


def _class_parts(made: Made) -> Any:
    """Largest score, sum of exponentials and the target's score of the classes of all ranks."""
    x, target = made.args["self"], made.args["target"]
    wide = taeda.float64 if x.dtype is taeda.float64 else taeda.float32
    part = x.to(wide)
    most = part.amax(1) if part.shape[1] else part.new_full((part.shape[0],), -math.inf)
    most = _sum(made, most, "max")
    begin = made.spec("self").box[0][1]
    place, own = _own_classes(target - begin, part.shape[1])
    score = part.new_zeros(part.shape[0])
    if part.shape[1]:
        score = part.gather(1, place[:, None])[:, 0].masked_fill(~own, 0)
    both = _sum(made, taeda.stack([(part - most[:, None]).exp().sum(1), score]))
    log_sum = both[0].log()
    weight = _row_weights(made, target, wide)
    rows = (most + log_sum - both[1]) * weight
    rows = rows.masked_fill(target == made.args["ignore_index"], 0)
    total = weight.sum()
    if made.args["reduction"] == NONE:
        total = total * 0  # as the row on the whole says
    loss = rows if made.args["reduction"] == NONE else rows.sum()
    if made.args["reduction"] == MEAN:
        loss = loss / total
    return loss.to(x.dtype), taeda.stack([most, log_sum]).to(x.dtype), total.to(x.dtype)


def _own_classes(place: Tensor, count: int) -> tuple[Tensor, Tensor]:
    own = (place >= 0) & (place < count)
    return place.masked_fill(~own, 0), own


def _row_weights(made: Made, target: Tensor, dtype: Any) -> Tensor:
    ignored = target == made.args["ignore_index"]
    weight = made.args["weight"]
    if weight is None:
        return (~ignored).to(dtype)
    return weight.to(dtype)[target.masked_fill(ignored, 0)].masked_fill(ignored, 0)


@rule("nll_loss_backward _cross_entropy_backward")
def classes_backward(call: Call) -> Iterator[Strategy]:
    """The batch, and of `_cross_entropy_backward` the classes."""
    x, entropy = call["self"], call.name == "_cross_entropy_backward"
    if x.ndim < 2 or not x.dtype.is_floating_point:
        return
    own = call["reduction"] == NONE
    if x.ndim == 2 or not entropy:
        ins = {"self": Shard(0), "target": Shard(0), "grad_output": Shard(0) if own else R}
        if entropy:
            ins["statistics"] = Shard(1)
        yield call.strategy(ins, Shard(0))
    if x.ndim == 2 and entropy:
        yield call.strategy({"self": Shard(1)}, Shard(1), fn=_class_parts_backward)


def _class_parts_backward(made: Made) -> Any:
    x, target = made.args["self"], made.args["target"]
    wide = taeda.float64 if x.dtype is taeda.float64 else taeda.float32
    most, log_sum = made.args["statistics"].to(wide)
    slope = (x.to(wide) - (most + log_sum)[:, None]).exp()
    begin = made.spec("self").box[0][1]
    place, own = _own_classes(target - begin, x.shape[1])
    if x.shape[1]:
        hit = taeda.zeros_like(slope).scatter(1, place[:, None], own.to(wide)[:, None])
        slope = slope - hit
    scale = _row_weights(made, target, wide) * made.args["grad_output"].to(wide)
    if made.args["reduction"] == MEAN:
        scale = scale / made.args["total_weight"].to(wide)
    scale = scale.masked_fill(target == made.args["ignore_index"], 0)
    return (slope * scale[:, None]).to(x.dtype)
