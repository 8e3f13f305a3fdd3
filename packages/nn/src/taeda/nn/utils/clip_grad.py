"""Norms of gradients, and limits on them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.programs import is_recorded

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

_TOGETHER = {taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64}


def _in_one_call(tensors: list[Tensor], foreach: bool | None) -> bool:
    """May an operation over lists take them?"""
    return foreach is not False and all(
        t.dtype in _TOGETHER and t.device.type == "cpu" and t.layout is taeda.strided
        for t in tensors
    )


def _lies_elsewhere(tensor: Tensor) -> bool:
    """Is it a part of something larger, such as a DTensor, whose class knows how to join the norms?"""
    return type(tensor).__torch_dispatch__ is not Tensor.__torch_dispatch__


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The p-norm of all elements of all tensors; 0 for none.

    Raises RuntimeError for a norm that is not finite, on request.

    Args:
        tensors: one tensor or an iterable of them.
        norm_type: order of the norm; inf takes the largest element (2).
        error_if_nonfinite: whether a norm that is nan or inf raises (False).
        foreach: whether lists of tensors are handled together (None: chosen); the values are the
            same.

    >>> get_total_norm([taeda.tensor([3.0, 4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm_type = float(norm_type)
    if not tensors:
        return taeda.tensor(0.0)
    with taeda.no_grad():
        total = _norm(tensors, norm_type, foreach)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite "
            f"({float(total)}), "
            "so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
            "anyway, set `error_if_nonfinite=False`"
        )
    return total


def _norm(tensors: list[Tensor], p: float, foreach: bool | None) -> Tensor:
    if _in_one_call(tensors, foreach) or any(map(_lies_elsewhere, tensors)):
        return taeda._global_norm([t.detach() for t in tensors], p)
    device = tensors[0].device
    norms = [taeda.linalg.vector_norm(t.detach(), p).to(device) for t in tensors]
    return taeda.linalg.vector_norm(taeda.stack(norms), p)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        generated = inspect.isgenerator(parameters)
        parameters = list(parameters)
        if generated and not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return [p.grad for p in parameters if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients, in place, so that their common norm is at most `max_norm`.

    Returns the norm before. Raises RuntimeError for a norm that is not finite, on request.

    Args:
        parameters: one tensor or an iterable of them; those without a gradient do not count.
        max_norm: the largest norm that is left.
        norm_type: order of the norm; inf takes the largest element (2).
        error_if_nonfinite: whether a norm that is nan or inf raises (False).
        foreach: whether lists of tensors are handled together (None: chosen); the values are the
            same.

    >>> p = taeda.nn.Parameter(taeda.zeros(2))
    >>> p.grad = taeda.tensor([3.0, 4.0])
    >>> clip_grad_norm_([p], 1.0), p.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    grads = _gradients(parameters)
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    _scale(grads, max_norm, _in_full(total, grads, norm_type), foreach)
    return total


def _in_full(total: Tensor, grads: list[Tensor], p: float) -> Tensor:
    """The norm also where float16 holds the gradients but not it: a factor of 0 would erase them."""
    if total.dtype is not taeda.float16 or not (is_recorded() or bool(total.isinf())):
        return total
    norms = [taeda.linalg.vector_norm(g.detach(), p, dtype=taeda.float32) for g in grads]
    return taeda.linalg.vector_norm(taeda.stack([n.to(total.device) for n in norms]), p)


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale all gradients, in place, by max_norm / total_norm if that is less than 1.

    Args:
        parameters: one tensor or an iterable of them; those without a gradient do not count.
        max_norm: the largest norm that is left.
        total_norm: norm of all gradients, ().
        foreach: whether lists of tensors are handled together (None: chosen); the values are the
            same.

    >>> param = taeda.nn.Parameter(taeda.zeros(2))
    >>> param.grad = taeda.tensor([3.0, 4.0])
    >>> clip_grads_with_norm_([param], 1.0, taeda.tensor(5.0))
    >>> param.grad
    tensor([0.6000, 0.8000])
    """
    _scale(_gradients(parameters), max_norm, total_norm, foreach)


def _scale(grads: list[Tensor], max_norm: float, total: Tensor, foreach: bool | None) -> None:
    if not grads:
        return
    with taeda.no_grad():
        factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
        if _in_one_call([*grads, factor], foreach) and not (
            is_recorded() and _is_alike(grads, factor)
        ):
            number = float(factor)
            if number != 1.0:
                taeda._flat_number_(grads, number, "mul")
                return
            for grad in grads:  # within the limit there is nothing to write: it counts as written
                grad._bump_version()
            return
        for grad in grads:
            grad.mul_(factor.to(grad.device))


def _is_alike(grads: list[Tensor], factor: Tensor) -> bool:
    """Whether a product with the factor, as a tensor, has the bits of that with its number."""
    return factor.dtype in (taeda.float32, taeda.float64) and all(
        g.dtype == factor.dtype for g in grads
    )


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The former name of `clip_grad_norm_`.

    Args:
        parameters: one tensor or an iterable of them; those without a gradient do not count.
        max_norm: the largest norm that is left.
        norm_type: order of the norm; inf takes the largest element (2).
        error_if_nonfinite: whether a norm that is nan or inf raises (False).
        foreach: whether lists of tensors are handled together (None: chosen); the values are the
            same.

    >>> x = taeda.ones(2, requires_grad=True)
    >>> (x * taeda.tensor([3.0, 4.0])).sum().backward()
    >>> norm = taeda.nn.utils.clip_grad_norm_([x], 1.0)
    >>> norm, x.grad
    (tensor(5.), tensor([0.6000, 0.8000]))
    """
    warn(
        "`nn.utils.clip_grad_norm` is now deprecated in favor of `nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Hold every element of the gradients within ±clip_value, in place.

    Args:
        parameters: one tensor or an iterable of them; those without a gradient do not count.
        clip_value: the largest absolute value that is left.
        foreach: whether lists of tensors are handled together (None: chosen); the values are the
            same.

    >>> param = taeda.nn.Parameter(taeda.zeros(2))
    >>> param.grad = taeda.tensor([3.0, 4.0])
    >>> clip_grad_value_([param], 3.5)
    >>> param.grad
    tensor([3.0000, 3.5000])
    """
    limit: Any = float(clip_value)
    with taeda.no_grad():
        for grad in _gradients(parameters):
            grad.clamp_(-limit, limit)
