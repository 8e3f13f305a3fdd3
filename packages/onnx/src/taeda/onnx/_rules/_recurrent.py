"""Recurrent layers, one direction of one layer at a time."""

from __future__ import annotations

from typing import cast

from .._context import Context, Value
from ._registry import rule

# where ONNX has what the row has at 0, 1, ...: i f g o -> i o f c; r z n -> z r h
_LSTM = [0, 3, 1, 2]
_GRU = [1, 0, 2]


def _gates(ctx: Context, weight: Value, hidden: int, order: list[int]) -> Value:
    """Rows of a weight or bias in the order of ONNX, under a first dimension of 1."""
    rows = [k * hidden + n for k in order for n in range(hidden)]
    moved = ctx.op("Gather", weight, ctx.integers(rows), axis=0) if len(order) > 1 else weight
    return ctx.op("Unsqueeze", moved, ctx.integers([0]), rank=weight.rank + 1)


def _inputs(
    ctx: Context, share: Value, order: list[int], hidden: int
) -> tuple[Value, Value, Value]:
    """The input, its weight and bias behind the sums that the row takes."""
    assert ctx.node is not None
    count = len(order) * hidden
    zeros = ctx.op("Expand", ctx.number(0.0, share.dtype), ctx.integers([count]), rank=1)
    source = ctx.node.args[0]
    if str(getattr(source, "target", "")) == "aten.linear.default":
        x, weight, *bias = (cast("Value", ctx.values.get(a)) for a in source.args)
        if x is not None and x.rank == 3:
            found = bias[0] if bias and bias[0] is not None else zeros
            return x, _gates(ctx, weight, hidden, order), _gates(ctx, found, hidden, order)
    square = ctx.integers([count, count])
    ones = ctx.op("EyeLike", ctx.op("Expand", ctx.number(0.0, share.dtype), square, rank=2))
    return share, _gates(ctx, ones, hidden, order), _gates(ctx, zeros, hidden, order)


def _hidden(ctx: Context, weight: Value) -> int:
    size = weight.sizes[1]
    if size is None:
        raise ctx.refuse("a recurrent layer whose width differs from call to call")
    return size


def _direction(reverse: bool) -> str:
    return "reverse" if reverse else "forward"


def _state(ctx: Context, state: Value) -> Value:
    return ctx.op("Unsqueeze", state, ctx.integers([0]), rank=3)


def _flat(ctx: Context, made: Value, dim: int) -> Value:
    """Without the dimension of directions."""
    return ctx.op("Squeeze", made, ctx.integers([dim]), rank=made.rank - 1)


@rule("_lstm", fresh=True)
def _lstm(
    ctx: Context, share: Value, hidden: Value, cell: Value, weight: Value, reverse: bool
) -> list[Value | None]:
    width = _hidden(ctx, weight)
    x, entering, bias = _inputs(ctx, share, _LSTM, width)
    zeros = ctx.op("Sub", bias, bias)
    both = ctx.op("Concat", bias, zeros, axis=1)
    again = _gates(ctx, weight, width, _LSTM)
    made, _, last = ctx.ops(
        "LSTM",
        3,
        x,
        entering,
        again,
        both,
        None,
        _state(ctx, hidden),
        _state(ctx, cell),
        hidden_size=width,
        direction=_direction(reverse),
    )
    output = _flat(ctx, Value(made.name, x.dtype, (None,) * 4), 1)
    return [output, _flat(ctx, Value(last.name, x.dtype, (None,) * 3), 0), None, None]


@rule("_gru", fresh=True)
def _gru(
    ctx: Context, share: Value, hidden: Value, weight: Value, bias: Value | None, reverse: bool
) -> list[Value | None]:
    width = _hidden(ctx, weight)
    x, entering, first = _inputs(ctx, share, _GRU, width)
    zeros = ctx.op("Sub", first, first)
    if bias is not None:  # the row has that of the new gate alone, the last of ONNX
        none = ctx.op("Expand", ctx.number(0.0, x.dtype), ctx.integers([2 * width]), rank=1)
        joined = ctx.op("Concat", none, bias, axis=0)
        zeros = ctx.op("Unsqueeze", joined, ctx.integers([0]), rank=2)
    both = ctx.op("Concat", first, zeros, axis=1)
    again = _gates(ctx, weight, width, _GRU)
    made = ctx.op(
        "GRU",
        x,
        entering,
        again,
        both,
        None,
        _state(ctx, hidden),
        hidden_size=width,
        direction=_direction(reverse),
        linear_before_reset=1,
        rank=4,
    )
    return [_flat(ctx, made, 1), None]


@rule("_rnn", fresh=True)
def _rnn(
    ctx: Context, share: Value, hidden: Value, weight: Value, relu: bool, reverse: bool
) -> Value:
    width = _hidden(ctx, weight)
    x, entering, first = _inputs(ctx, share, [0], width)
    both = ctx.op("Concat", first, ctx.op("Sub", first, first), axis=1)
    again = _gates(ctx, weight, width, [0])
    made = ctx.op(
        "RNN",
        x,
        entering,
        again,
        both,
        None,
        _state(ctx, hidden),
        hidden_size=width,
        direction=_direction(reverse),
        activations=["Relu" if relu else "Tanh"],
        rank=4,
    )
    return _flat(ctx, made, 1)
