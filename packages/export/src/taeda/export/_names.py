"""Rows of kernels under the names that programs use: `conv2d`, `layer_norm`, `batch_norm`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import taeda
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

__all__ = ["RESTORED", "renamed", "without_modes"]

#: by getattr, for the checker takes the stub of taeda and this module in a circle
_aten: Any = operator.attrgetter("ops.aten")(taeda)
Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def without_modes(gm: GraphModule) -> GraphModule:
    """The same program, in which what a region without gradients gives to others is detached."""
    recording, inside = True, set()
    for node in list(gm.graph.nodes):
        if node.target is taeda.set_grad_enabled:
            recording = bool(node.args[0])
            gm.graph.erase_node(node)
        elif node.op == "call_function" and not recording:
            inside.add(node)
    for node in inside:
        outside = [u for u in node.users if u not in inside and u.target is not operator.getitem]
        if outside and isinstance(node.meta.get("val"), taeda.Tensor):
            with gm.graph.inserting_after(node):
                apart = gm.graph.call_function(_aten.detach.default, (node,))
            apart.meta["nn_module_stack"] = node.meta.get("nn_module_stack", {})
            node.replace_all_uses_with(apart, outside.__contains__)
    gm.recompile()
    return gm


def _every(name: str) -> bool:
    return True


def renamed(gm: GraphModule, wanted: Callable[[str], bool] = _every) -> GraphModule:
    """The same program; a row of which only the first result is read is the function of that, if
    `wanted` says so of its name.
    """
    for node in list(gm.graph.nodes):
        rule = _RULES.get(str(node.target)) if node.op == "call_function" else None
        made = rule(*node.args, **node.kwargs) if rule else None
        if made is None or not wanted(str(made[0])):
            continue
        if str(node.target) in _SINGLE:
            _replace(gm, node, node, made)
        elif _only_first(node):
            _replace(gm, node, next(iter(_first(node)), node), made)
    _drop_unused(gm)
    gm.graph.lint()
    gm.recompile()
    return gm


def _only_first(node: Node) -> bool:
    return all(u.target is operator.getitem and (u.args[1] == 0 or not u.users) for u in node.users)


def _first(node: Node) -> list[Node]:
    return [u for u in node.users if u.args[1] == 0]


def _replace(gm: GraphModule, node: Node, used: Node, made: Call) -> None:
    target, args, kwargs = made
    with gm.graph.inserting_before(node):
        new = gm.graph.call_function(target, args, kwargs)
    if "nn_module_stack" in node.meta:
        new.meta["nn_module_stack"] = node.meta["nn_module_stack"]
    parts = list(node.users) if used is not node else []
    used.replace_all_uses_with(new)
    for part in parts:
        gm.graph.erase_node(part)
    gm.graph.erase_node(node)


def _drop_unused(gm: GraphModule) -> None:
    """Parts of results that nobody reads: at other sizes a list may have fewer."""
    for node in list(gm.graph.nodes):
        if node.target is operator.getitem and not node.users:
            gm.graph.erase_node(node)


def _convolution(
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Call | None:
    count = len(stride)
    if transposed or count not in (1, 2, 3):
        return None
    target = getattr(_aten, f"conv{count}d").default
    return target, (x, weight, bias, list(stride), list(padding), list(dilation), groups), {}


def _batch_norm(*args: Any) -> Call:
    return _aten.batch_norm.default, (*args, False), {}


def _layer_norm(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Call:
    return _aten.layer_norm.default, (x, list(shape), weight, bias, eps), {}


def _group_norm(
    x: Any, weight: Any, bias: Any, n: Any, c: Any, positions: Any, groups: int, eps: float
) -> Call:
    return _aten.group_norm.default, (x, groups, weight, bias, eps), {}


def _attention(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> Call:
    args = (q, k, v, mask, 0.0, causal)
    return _aten.scaled_dot_product_attention.default, args, {"scale": scale}


_SINGLE = {"aten.convolution.default"}
_RULES: dict[str, Callable[..., Call | None]] = {
    "aten.convolution.default": _convolution,
    "aten._batch_norm.default": _batch_norm,
    "aten.native_layer_norm.default": _layer_norm,
    "aten.native_group_norm.default": _group_norm,
    "aten._fused_attention.default": _attention,
}
#: the functions that rows of kernels get back
RESTORED = frozenset(
    getattr(_aten, name).default
    for name in (
        "conv1d", "conv2d", "conv3d", "batch_norm", "layer_norm", "group_norm",
        "scaled_dot_product_attention",
    )
)  # fmt: skip
