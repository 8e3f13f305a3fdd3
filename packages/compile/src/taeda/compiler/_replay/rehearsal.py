"""What a new graph is proved with: copies of inputs, random gradients, what autograd gives for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs, runtime

from .ends import arrived
from .results import Spent

__all__ = ["tangent", "twin", "walked"]


def walked(results: list[Tensor], wanted: list[Tensor], make: Callable[[Tensor], Tensor]) -> Any:
    """(random gradients of results, what autograd gives for them for each of `wanted`)."""
    own = taeda.Generator().manual_seed(0)
    tangents = [tangent(r.detach(), own, make) for r in results]
    return tangents, arrived(results, wanted, tangents, apart=False)


def tangent(result: Tensor, own: Any, make: Callable[[Tensor], Tensor]) -> Tensor:
    """Random numbers in the layout that `make` gives a gradient of `result`."""
    made = make(result)
    wide = [step for size, step in zip(made.shape, made.stride(), strict=True) if size > 1]
    if wide and not any(wide):
        one = taeda.randn((), generator=own, dtype=result.dtype, device="cpu")
        return one.to(result.device).expand(result.shape)
    return made.copy_(taeda.randn(result.shape, generator=own, dtype=result.dtype, device="cpu"))


def twin(tensor: Tensor) -> Tensor:
    """A tensor of the same layout, type, values and version, whose memory is its own."""
    with taeda.inference_mode(tensor.is_inference()):
        return _twin(tensor)


def _twin(tensor: Tensor) -> Tensor:
    plain = tensor.detach()
    small = plain  # an expanded dimension is one element in memory
    for dim, step in enumerate(plain.stride()):
        if step == 0 and plain.shape[dim] > 1:
            small = small.narrow(dim, 0, 1)
    made = taeda.empty_strided(small.shape, plain.stride(), dtype=plain.dtype, device=plain.device)
    made = made.copy_(small).expand(plain.shape).detach()  # no view, which it may not be
    if not tensor.is_inference():
        programs.set_version(made, tensor._version)  # a program may read it
    if type(tensor) is not Tensor:
        made = type(tensor)(made, requires_grad=tensor.requires_grad)
    elif tensor.grad_fn is not None:  # computed: nobody walks behind it
        runtime.set_history(Spent(made).node, 0, made)
    elif tensor.requires_grad:
        made.requires_grad_()
    return made
