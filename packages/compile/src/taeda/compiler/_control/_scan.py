"""`scan` and `map` as one call of a graph, where a recorder without values keeps them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core
from taeda._core_api import runtime
from taeda._core_api.trees import TreeSpec, tree_flatten, tree_unflatten
from taeda.autograd import Function
from taeda.autograd.batching import levels

from .._errors import Refused
from ._cond import tried
from ._explore import Lifted
from ._part import Control
from ._speculation import alone

__all__ = ["scan"]


def scan(
    recorder: Any,
    combine_fn: Callable[[Any, Any], Any],
    init: Any,
    xs: Any,
    dim: int,
    reverse: bool,
) -> tuple[Any, Any] | None:
    """The carry and the outputs, recorded as one call; None if it cannot be one, and the steps are
    recorded then: its function draws random numbers, writes to what was there, or gives no tensors
    of the kinds that it must, of which the steps say more.
    """
    if levels() or runtime.is_forward_on():
        return None
    carried, form = tree_flatten(init)
    several, spec = tree_flatten(xs)
    several = [_first(t, dim, reverse) for t in several]
    step = _Step(combine_fn, form, spec)
    with alone():
        slices = [t.select(0, 0) for t in several]
    operands = (*carried, *slices)
    try:
        with recorder.strictly():
            found = tried("combine_fn", step, operands)
    except Refused:
        return None
    kinds = [_kind(t) for t in found.tensors[: len(carried)]]
    if (
        found.draws
        or kinds != [_kind(t) for t in carried]
        or len(set(map(id, operands))) < len(operands)
    ):
        return None
    what = Control(
        "scan" if carried else "map",
        taeda.is_grad_enabled() and _wants(carried, several, found.free),
        taeda.is_grad_enabled(),
        (len(carried), len(several)),
    )
    flat = Lifted(step, operands, [*operands, *found.free])
    made = _Scan.apply(what, flat, *carried, *several, *found.free)
    outputs = [_last(t, dim, reverse) for t in made[len(carried) :]]
    assert step.outputs is not None
    return tree_unflatten(list(made[: len(carried)]), form), tree_unflatten(outputs, step.outputs)


class _Step:
    """The function of flat carry and slices, which gives the new carry and the outputs, each a tensor
    of its own.
    """

    def __init__(
        self, combine_fn: Callable[[Any, Any], Any], form: TreeSpec, spec: TreeSpec
    ) -> None:
        self.combine_fn, self.form, self.spec = combine_fn, form, spec
        self.outputs: TreeSpec | None = None

    def __call__(self, *given: Tensor) -> tuple[Tensor, ...]:
        count = self.form.num_leaves
        parts = list(given[:count]), list(given[count:])
        made = self.combine_fn(
            tree_unflatten(parts[0], self.form), tree_unflatten(parts[1], self.spec)
        )
        if not isinstance(made, tuple | list) or len(made) != 2:
            raise Refused("combine_fn gives no pair")
        carry, form = tree_flatten(made[0])
        outputs, self.outputs = tree_flatten(made[1])
        if form != self.form or not all(isinstance(v, Tensor) for v in (*carry, *outputs)):
            raise Refused("combine_fn gives another carry, or no tensors")
        seen = {id(t) for t in carry}
        return (*carry, *(t.clone() if id(t) in seen else t for t in outputs))


@dataclass(frozen=True)
class _Kind:
    shape: tuple[int, ...]
    dtype: Any
    device: Any


def _kind(tensor: Tensor) -> _Kind:
    return _Kind(tuple(tensor.shape), tensor.dtype, tensor.device)


def _wants(*groups: list[Tensor]) -> bool:
    return any(t.requires_grad for group in groups for t in group)


def _first(tensor: Tensor, dim: int, reverse: bool) -> Tensor:
    """With the slices along dimension 0, in the order of the steps."""
    moved = tensor.movedim(dim, 0) if dim % tensor.dim() else tensor
    return moved.flip(0) if reverse else moved


def _last(tensor: Tensor, dim: int, reverse: bool) -> Tensor:
    """As `_first` found them: a dimension from the end is one of what was sliced."""
    tensor = tensor.flip(0) if reverse else tensor
    return tensor.movedim(0, dim) if dim % tensor.dim() else tensor


class _Scan(Function):
    """The call: one step is made, and the outputs have the size of what is sliced."""

    @staticmethod
    def forward(ctx: Any, what: Control, flat: Lifted, *inputs: Tensor) -> Any:
        carried, _ = what.counts
        size = inputs[carried].shape[0]

        def one_step(functions: Any, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            made = functions[0](*what.given(tensors))
            outputs = [t.new_empty((size, *t.shape)) for t in made[carried:]]
            return (*made[:carried], *outputs)

        made = _core.call_control(what, (flat,), inputs, lambda: one_step((flat,), inputs))
        fixed = [t for t in made if not (what.grad and t.is_floating_point())]
        ctx.mark_non_differentiable(*fixed)
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *tangents: Any, **_: Any) -> Any:
        raise NotImplementedError(
            "scan, map: the program takes a gradient of it while it is captured, and there is no graph of "
            "that: take the gradient of the exported program"
        )
