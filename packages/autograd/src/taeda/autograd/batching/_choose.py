"""One of two functions, where each sample chooses by an element of its own: both run, and each
sample gets its results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.trees import tree_flatten

__all__ = ["choose"]


def choose(
    pred: Tensor, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any
) -> Any:
    """What `cond` gives inside of vmap. RuntimeError if the two results differ in structure,
    shape or dtype."""
    leaves, spec = tree_flatten(true_fn(*operands))
    others, other = tree_flatten(false_fn(*operands))
    if spec != other:
        raise RuntimeError(
            f"cond: true_fn gives {spec}, false_fn gives {other}: "
            "inside of vmap they must have one structure"
        )
    where = pred.reshape(()) != 0
    return spec.unflatten([_chosen(where, a, b) for a, b in zip(leaves, others, strict=True)])


def _chosen(where: Tensor, a: Any, b: Any) -> Any:
    if isinstance(a, Tensor) and isinstance(b, Tensor) and (a.shape, a.dtype) == (b.shape, b.dtype):
        return taeda.where(where, a, b)
    if not isinstance(a, Tensor) and not isinstance(b, Tensor) and a == b:
        return a
    raise RuntimeError(
        "cond: inside of vmap both functions must give results alike, "
        f"got {_said(a)} from true_fn and {_said(b)} from false_fn"
    )


def _said(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a {value.dtype} tensor of shape {list(value.shape)}"
    return f"{value!r:.40}"
