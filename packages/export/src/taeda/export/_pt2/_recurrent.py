"""Rows of recurrent layers as the functions that other readers of files know.

    linear(x, w_ih, bias) ─▶ _lstm(share, h, c, w_hh, reverse)
    is
    lstm(x, [h, c], [w_ih, w_hh, bias, zeros], ...)      of one layer and direction

In reverse, input and output are flipped in time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda.fx.experimental._expressions import Expression, constant
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ._rewriting import rewritten

__all__ = ["with_public_layers"]

_aten: Any = operator.attrgetter("ops.aten")(taeda)
_ROWS = ("aten._lstm.default", "aten._gru.default", "aten._rnn.default")
Shape = tuple[Expression, ...]


def with_public_layers(gm: GraphModule) -> GraphModule:
    """The program itself, or a copy in which `lstm`, `gru`, `rnn_tanh` and `rnn_relu` stand for
    their rows. A row stays whose share is no `linear`, or of which more is read than results.
    """
    return rewritten(gm, _is_row, lambda copied, node: _Layer(copied, node).replace())


def _is_row(node: Node) -> bool:
    return node.op == "call_function" and str(node.target) in _ROWS


class _Layer:
    """One row, on its way to a function."""

    def __init__(self, gm: GraphModule, node: Node) -> None:
        self.graph, self.node = gm.graph, node
        args: list[Any] = list(node.args)
        self.kind = str(node.target).split(".")[1]
        self.share, self.reverse = args[0], bool(args[-1])
        count = 2 if self.kind == "_lstm" else 1
        self.states, self.weight = args[1 : 1 + count], args[1 + count]
        self.inner = args[3] if self.kind == "_gru" else None  # the last gate's bias
        self.relu = bool(args[3]) if self.kind == "_rnn" else False

    def replace(self) -> None:
        """Put the function in the place of the row, where it gives all that is read."""
        share: Any = self.share
        kept = {"_lstm": (0, 1), "_gru": (0,)}.get(self.kind)
        read = [u for u in self.node.users if u.users]
        if str(getattr(share, "target", "")) != "aten.linear.default" or share.kwargs:
            return
        if len(share.args[0].meta["shape"]) != 3:
            return
        if kept is not None:
            places = [u.args[1] for u in read if u.target is operator.getitem]
            if len(set(places)) < len(read) or not set(places) <= set(kept):
                return
        with self.graph.inserting_before(self.node):
            made, output = self._called(*share.args)
            parts = {0: output, 1: self._last(made, 2)} if self.kind == "_lstm" else {0: output}
        if kept is None:
            self._stand_for(self.node, output)
            return
        for user in list(self.node.users):
            self._stand_for(user, parts[int(user.args[1])] if user in read else None)
        self.graph.erase_node(self.node)

    def _stand_for(self, old: Node, new: Node | None) -> None:
        """Another node under the name of one, by which the signature may know it."""
        name = old.name
        if new is not None:
            old.replace_all_uses_with(new)
        self.graph.erase_node(old)
        if new is not None:
            new.name = name

    def _called(self, x: Node, weight: Node, bias: Node | None = None) -> tuple[Node, Node]:
        """The call, and its output in the order of time."""
        time = _shape(x)[0]
        if self.reverse:
            x = self._op(_aten.flip.default, (x, [0]), _shape(x), x)
        states = [
            self._op(_aten.unsqueeze.default, (s, 0), (constant(1), *_shape(s)), s)
            for s in self.states
        ]
        weights = [weight, self.weight, *self._biases(bias)]
        options = (weights, len(weights) == 4, 1, 0.0, False, False, False)
        first: Any = states if self.kind == "_lstm" else states[0]
        made = self.graph.call_function(self._function(), (x, first, *options))
        inner = _shape(self.states[0])
        shapes = [(time, *inner), *((constant(1), *_shape(s)) for s in self.states)]
        examples = [_example(self.states[0], len(s)) for s in shapes]
        self._describe(made, examples, shapes)
        parts = []
        for k, shape in enumerate(shapes):
            part = self.graph.call_function(operator.getitem, (made, k))
            self._describe(part, examples[k], shape)
            parts.append(part)
        output = parts[0]
        if self.reverse:
            output = self._op(_aten.flip.default, (output, [0]), shapes[0], output)
        return made, output

    def _last(self, made: Node, place: int) -> Node:
        """The last state of the one layer."""
        part = next(u for u in made.users if u.args[1] == place)
        return self._op(_aten.select.int, (part, 0, 0), _shape(part)[1:], part)

    def _function(self) -> Callable[..., Any]:
        if self.kind == "_rnn":
            return taeda.rnn_relu if self.relu else taeda.rnn_tanh
        return taeda.lstm if self.kind == "_lstm" else taeda.gru

    def _biases(self, bias: Node | None) -> list[Node]:
        """Those of input and state, none if the layer has none."""
        if bias is None and self.inner is None:
            return []
        if bias is None:
            raise NotImplementedError(
                "save: a GRU with one of its two biases has no place in a file"
            )
        if self.inner is None:
            both = _added(bias)
            return both or [bias, self._op(_aten.zeros_like.default, (bias,), _shape(bias), bias)]
        gates = self._op(_aten.zeros_like.default, (bias,), _shape(bias), bias)
        count = 2 * _number(_shape(self.inner)[0])
        shape = (constant(count),)
        first = self._op(_aten.slice.Tensor, (gates, 0, 0, count), shape, bias)
        return [bias, self._op(_aten.cat.default, ([first, self.inner],), _shape(bias), bias)]

    def _op(self, target: Any, args: tuple[Any, ...], shape: Shape, like: Node) -> Node:
        made = self.graph.call_function(target, args)
        self._describe(made, _example(like, len(shape)), shape)
        return made

    def _describe(self, node: Node, value: Any, shape: Any) -> None:
        node.meta["val"], node.meta["shape"] = value, shape
        strides = [_strides(s) for s in shape] if isinstance(shape, list) else _strides(shape)
        node.meta["stride"] = strides
        if "nn_module_stack" in self.node.meta:
            node.meta["nn_module_stack"] = self.node.meta["nn_module_stack"]


def _shape(node: Node) -> Shape:
    shape: Shape = tuple(node.meta["shape"])
    return shape


def _strides(shape: Shape) -> Shape:
    made, step = [], constant(1)
    for size in reversed(shape):
        made.append(step)
        step = step * size
    return tuple(reversed(made))


def _number(expr: Expression) -> int:
    if expr.number is None:
        raise NotImplementedError("save: a recurrent layer whose width differs from call to call")
    return expr.number


def _example(like: Node, rank: int) -> Any:
    value: Any = like.meta["val"]
    return taeda.empty([0] * rank, dtype=value.dtype, device="meta")


def _added(bias: Node) -> list[Node] | None:
    """The two whose plain sum a bias is."""
    args: Any = bias.args
    plain = str(bias.target) == "aten.add.Tensor" and not bias.kwargs and len(args) == 2
    if not plain or not all(isinstance(a, Node) and _shape(a) == _shape(bias) for a in args):
        return None
    return list(args)
