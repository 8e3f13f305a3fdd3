"""What autograd saves of a call, and which operator gives its gradient."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, library

__all__ = ["register"]

_NO_SECOND = "{}: gradients of gradients are not computed: leave create_graph out, or detach"


def register() -> None:
    """Give every operator its derivative; that of a derivative refuses."""
    ops = taeda.ops.torchvision
    for name, extra in (
        ("roi_align", False),
        ("roi_pool", True),
        ("ps_roi_align", True),
        ("ps_roi_pool", True),
    ):
        backward = getattr(ops, f"_{name}_backward")
        rule = _of_regions(name, backward)
        library.register_autograd(f"torchvision::{name}", rule, setup_context=_saved_with(extra))
        _refuse_second(f"_{name}_backward")
    library.register_autograd("torchvision::deform_conv2d", _of_deform, setup_context=_save_all)
    _refuse_second("_deform_conv2d_backward")


def _saved_with(extra: bool) -> Any:
    """What a call on regions keeps: the regions, its second result, the numbers and the shape."""

    def save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        input, rois, *numbers = inputs
        ctx.save_for_backward(rois, *((output[1],) if extra else ()))
        ctx.numbers, ctx.sizes = numbers, tuple(input.shape)
        if extra:
            ctx.mark_non_differentiable(output[1])

    return save


def _of_regions(name: str, backward: Any) -> Any:
    def rule(ctx: Any, grad: Tensor, *unused: Any) -> tuple[Any, ...]:
        scale, *more = ctx.numbers
        rows, columns, *sampling = more
        saved = ctx.saved_tensors
        sizes = ctx.sizes
        before = sampling if name == "ps_roi_align" else []
        after = sampling if name == "roi_align" else []
        found = backward(grad, *saved, scale, rows, columns, *before, *sizes, *after)
        return (found, None, *(None for _ in ctx.numbers))

    return rule


def _save_all(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs[:5])
    ctx.numbers = inputs[5:]


def _of_deform(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    backward = taeda.ops.torchvision._deform_conv2d_backward
    found = backward(grad, *ctx.saved_tensors, *ctx.numbers)
    return (*found, *(None for _ in ctx.numbers))


def _refuse_second(name: str) -> None:
    def rule(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(_NO_SECOND.format(name))

    library.register_autograd(
        f"torchvision::{name}", rule, setup_context=lambda ctx, inputs, output: None
    )
