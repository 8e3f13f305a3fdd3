"""Normalization: samples are more rows."""

from __future__ import annotations

from typing import Any

from ._batched import WIDE, Level, batched, rank
from ._registry import Decline, rule

__all__: list[str] = []


def _fits(shape: Any, *parameters: Any) -> None:
    """Decline where a sample's own call has to say what shape its weight and bias should have."""
    if any(p is not None and p.shape != shape for p in parameters):
        raise Decline


def _sizes(given: Any) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _wide(value: Any) -> Any:
    """What is still to be scaled: not rounded to a short float before that."""
    return value.to(WIDE[value.dtype]) if value.dtype in WIDE else value


def _scaled(level: Level, made: Any, weight: Any, bias: Any, dtype: Any) -> Any:
    """`made * weight + bias`, of samples whose last dimensions are those of the weight."""
    whole = batched(made, level.number)
    if weight is not None:
        whole = whole * weight
    if bias is not None:
        whole = whole + bias
    return level.value(whole.to(dtype))


@rule("layer_norm")
def _layer_norm(
    level: Level,
    func: Any,
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    *args: Any,
) -> Any:
    if not level.on(x) or rank(x) < len(_sizes(normalized_shape)):
        raise Decline
    if not (level.on(weight) or level.on(bias)):
        return func(x._value, normalized_shape, weight, bias, *args)
    _fits(_sizes(normalized_shape), weight, bias)
    made = func(_wide(x._value), normalized_shape, None, None, *args)
    return _scaled(level, made, weight, bias, x.dtype)


@rule("rms_norm")
def _rms_norm(
    level: Level, func: Any, x: Any, normalized_shape: Any, weight: Any = None, *args: Any
) -> Any:
    if not level.on(x) or rank(x) < len(_sizes(normalized_shape)):
        raise Decline
    if not level.on(weight):
        return func(x._value, normalized_shape, weight, *args)
    _fits(_sizes(normalized_shape), weight)
    made = func(_wide(x._value), normalized_shape, None, *args)
    return _scaled(level, made, weight, None, x.dtype)


@rule("group_norm")
def _group_norm(
    level: Level,
    func: Any,
    x: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    *args: Any,
) -> Any:
    if not level.on(x) or rank(x) < 2:
        raise Decline
    _fits(x.shape[1:2], weight, bias)
    value = x._value
    own = not (level.on(weight) or level.on(bias))
    flat = value.reshape(-1, *value.shape[2:])
    flat = flat if own else _wide(flat)
    made = func(flat, num_groups, *((weight, bias) if own else (None, None)), *args)
    made = made.reshape(value.shape)
    if own:
        return made
    shape = (-1, *[1] * (rank(x) - 2))
    factor, offset = (None if p is None else p.reshape(shape) for p in (weight, bias))
    return _scaled(level, made, factor, offset, x.dtype)


@rule("batch_norm")
def _batch_norm(
    level: Level,
    func: Any,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    *args: Any,
) -> Any:
    """In training with the statistics of each sample's own batch: samples become channels."""
    if not level.on(x) or rank(x) < 2:
        raise Decline
    if (
        running_mean is not None
        and training
        and not (level.on(running_mean) and level.on(running_var))
    ):
        raise RuntimeError(
            "vmap: batch norm would update running statistics, which are the same for all samples, "
            "with those of each. "
            "Use eval(), track_running_stats=False, or func.replace_all_batch_norm_modules_"
        )
    _fits(x.shape[1:2], weight, bias, running_mean, running_var)
    value = x._value
    count, batch, channels = value.shape[:3]
    if not training:
        if any(level.on(p) for p in (weight, bias, running_mean, running_var)):
            raise Decline
        flat = value.reshape(-1, *value.shape[2:])
        made = func(flat, weight, bias, running_mean, running_var, False, *args)
        return made.reshape(value.shape)
    flat = value.transpose(0, 1).reshape(batch, count * channels, *value.shape[3:])
    for p in (running_mean, running_var):
        if p is not None and not p._value.is_contiguous():
            raise Decline
    kept = [None if p is None else p._value.view(-1) for p in (running_mean, running_var)]
    wide = [None if p is None else _wide(p) for p in kept]
    made = func(_wide(flat), None, None, *wide, True, *args)
    for p, new in zip(kept, wide, strict=True):
        if p is not None and p is not new:
            p.copy_(new)
    made = made.reshape(batch, count, channels, *value.shape[3:]).transpose(0, 1)
    shape = (-1, *[1] * (rank(x) - 2))
    factor, offset = (None if p is None else p.reshape(shape) for p in (weight, bias))
    return _scaled(level, made, factor, offset, x.dtype)
