"""What each operator costs: a multiplication and an addition count as two.
Additions of a bias and elementwise work count as nothing.

A formula takes the arguments of the operator with shapes in the place of tensors, and `out_shape`;
a raw one takes the tensors, and `out_val`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import prod
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["FORMULAS", "flops_of", "register_flop_formula"]

Formula = Callable[..., int]
Shape = Sequence[int]

#: the raw formula of each operator: a packet of `taeda.ops`
FORMULAS: dict[Any, Formula] = {}
_BY_NAME: dict[str, Formula] = {}  # those of aten, for the profiler


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """A decorator: the function says what one call of `targets`, a packet of `taeda.ops` or a list
    of them, costs.

    >>> import taeda
    >>> @register_flop_formula(taeda.ops.aten.dot)
    ... def dot(self, other, *, out_shape):
    ...     return 2 * self[0]
    """

    packets = targets if isinstance(targets, (list, tuple)) else [targets]
    for packet in packets:
        if not hasattr(packet, "overloads"):
            raise ValueError(
                f"register_flop_formula takes packets such as taeda.ops.aten.mm, not {packet!r}"
            )

    def add(formula: Formula) -> Formula:
        raw = formula if get_raw else partial(_of_shapes, formula)
        for packet in packets:
            FORMULAS[packet] = raw
            space, _, name = str(packet).partition(".")
            if space == "aten":
                _BY_NAME[name] = raw
        return formula

    return add


def _shapes(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.shape
    if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        return (
            type(value)(_shapes(item) for item in value)
            if type(value) in (list, tuple)
            else [*map(_shapes, value)]
        )
    return value


def _of_shapes(formula: Formula, *args: Any, out_val: Any = None, **kwargs: Any) -> int:
    named = {name: _shapes(value) for name, value in kwargs.items()}
    return formula(*map(_shapes, args), out_shape=_shapes(out_val), **named)


def flops_of(name: str, args: Iterable[Any], made: Any) -> int:
    """What one call of an operator of `aten` costs: of products, convolutions, attention and
    recurrent layers; 0 of others.

    >>> x, y = taeda.ones(2, 3), taeda.ones(3, 5)
    >>> taeda.utils.flop_counter.flops_of("mm", (x, y), x @ y)
    60
    """
    formula = _BY_NAME.get(name)
    return 0 if formula is None else int(formula(*args, out_val=made))


def _aten(*names: str) -> Callable[[Formula], Formula]:
    return register_flop_formula([getattr(taeda.ops.aten, name) for name in names])


# ---- products ----


@_aten("mm", "bmm")
def _mm(self: Shape, other: Shape, *, out_shape: Shape) -> int:
    return 2 * prod(out_shape) * self[-1]


@_aten("addmm", "baddbmm", "addmv")
def _addmm(
    self: Shape, first: Shape, second: Shape, *rest: Any, out_shape: Shape, **scale: Any
) -> int:
    return 2 * prod(out_shape) * first[-1]


@_aten("matmul", "mv", "dot")
def _matmul(self: Shape, other: Shape, *, out_shape: Shape) -> int:
    return 2 * prod(out_shape) * self[-1]


@_aten("linear")
def _linear(input: Shape, weight: Shape, bias: Shape | None = None, *, out_shape: Shape) -> int:
    return 2 * prod(out_shape) * input[-1]


# ---- convolutions ----


def _convolution_flops(input: Shape, weight: Shape, out: Shape, transposed: bool) -> int:
    """Every place of the output (of the input, if transposed) meets the whole kernel once in each
    item of the batch.
    """
    places = (input if transposed else out)[2:]
    return 2 * out[0] * prod(places) * prod(weight)


@_aten("convolution")
def _convolution(
    input: Shape,
    weight: Shape,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    *rest: Any,
    out_shape: Shape,
) -> int:
    return _convolution_flops(input, weight, out_shape, transposed)


@_aten("convolution_backward")
def _convolution_backward(
    grad: Shape,
    input: Shape,
    weight: Shape,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    output_mask: Sequence[bool],
    *,
    out_shape: Any,
) -> int:
    return (output_mask[0] + output_mask[1]) * _convolution_flops(input, weight, grad, transposed)


# ---- attention: a mask, or a triangle, changes nothing ----


def _scores(query: Shape, key: Shape) -> int:
    return 2 * prod(query[:-1]) * key[-2]


@_aten("_fused_attention")
def _attention(
    query: Shape, key: Shape, value: Shape, *rest: Any, out_shape: Any, **named: Any
) -> int:
    return _scores(query, key) * (query[-1] + value[-1])


@_aten("_fused_attention_backward")
def _attention_backward(
    grad: Shape, query: Shape, key: Shape, value: Shape, *rest: Any, out_shape: Any, **named: Any
) -> int:
    """The scores again, then the gradients of scores, query, key and value."""
    return _scores(query, key) * (3 * query[-1] + 2 * value[-1])


def _pairs(query: Shape, query_offsets: Sequence[int], key_offsets: Sequence[int]) -> int:
    """Twice the scores of all sequences."""
    both = zip(itertools.pairwise(query_offsets), itertools.pairwise(key_offsets), strict=True)
    return 2 * query[0] * sum((b - a) * (d - c) for (a, b), (c, d) in both)


@_aten("_ragged_attention")
def _ragged_attention(
    query: Shape,
    key: Shape,
    value: Shape,
    query_offsets: Sequence[int],
    key_offsets: Sequence[int],
    *rest: Any,
    out_shape: Any,
    **named: Any,
) -> int:
    return _pairs(query, query_offsets, key_offsets) * (query[-1] + value[-1])


@_aten("_ragged_attention_backward")
def _ragged_attention_backward(
    grad: Shape,
    query: Shape,
    key: Shape,
    value: Shape,
    output: Shape,
    logsumexp: Shape,
    query_offsets: Sequence[int],
    key_offsets: Sequence[int],
    *rest: Any,
    out_shape: Any,
    **named: Any,
) -> int:
    return _pairs(query, query_offsets, key_offsets) * (3 * query[-1] + 2 * value[-1])


# ---- recurrent layers: the share of the input is a product of its own ----


def _steps(share: Shape, weight: Shape) -> int:
    return 2 * prod(share[:-1]) * prod(weight)


@_aten("_lstm")
def _lstm(
    share: Shape, hidden: Shape, cell: Shape, weight: Shape, *rest: Any, out_shape: Any
) -> int:
    return _steps(share, weight)


@_aten("_gru", "_rnn")
def _gru(share: Shape, hidden: Shape, weight: Shape, *rest: Any, out_shape: Any) -> int:
    return _steps(share, weight)


@_aten("_lstm_backward")
def _lstm_backward(
    grad: Shape, grad_cell: Any, cell: Any, weight: Shape, *rest: Any, out_shape: Any
) -> int:
    return _steps(grad, weight)


@_aten("_gru_backward")
def _gru_backward(grad: Shape, hidden: Shape, weight: Shape, *rest: Any, out_shape: Any) -> int:
    return _steps(grad, weight)


@_aten("_rnn_backward")
def _rnn_backward(grad: Shape, weight: Shape, *rest: Any, out_shape: Any) -> int:
    return _steps(grad, weight)
