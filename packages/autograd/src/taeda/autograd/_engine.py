"""The rare paths of the engine, called from C: fitting gradients, hooks, slices, anomalies."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

__all__ = [
    "check_nan", "explain_failure", "first_gradient", "fit_gradient", "join_slices", "post",
    "post_accumulate", "pre",
    "retain", "split_slices", "tensor",
]  # fmt: skip


def fit_gradient(
    gradient: Tensor, shape: Any, dtype: Any, device: Any, node: Any, index: int
) -> Tensor:
    """Sum a gradient down to `shape` over broadcast dimensions, bring it to the device and give it
    the dtype.
    """
    if gradient.shape != shape:
        gradient = _sum_to(gradient, shape, node, index)
    if gradient.device != device:
        gradient = gradient.to(device)
    if gradient.dtype is not dtype:
        if gradient.is_complex() and not dtype.is_complex:
            gradient = taeda.real(gradient)
        gradient = gradient.to(dtype)
    return gradient


def _sum_to(gradient: Tensor, shape: Any, node: Any, index: int) -> Tensor:
    extra = gradient.dim() - len(shape)
    fits = extra >= 0 and all(
        s in (1, g) for s, g in zip(shape, gradient.shape[max(extra, 0) :], strict=True)
    )
    if not fits:
        name = node.name() if node is not None else "backward"
        raise RuntimeError(
            f"Function {name} returned an invalid gradient at index {index} - got {list(gradient.shape)} "
            f"but expected shape compatible with {list(shape)}"
        )
    dims = [
        *range(extra),
        *(i + extra for i, s in enumerate(shape) if s == 1 and gradient.shape[i + extra] != 1),
    ]
    summed = gradient.sum(dims, keepdim=True) if dims else gradient
    return summed.reshape(shape) if extra else summed


def first_gradient(leaf: Tensor, gradient: Tensor, create_graph: bool) -> Tensor:
    """The first gradient of a leaf: with the leaf's strides if it is dense, else row-major."""
    if create_graph:
        return gradient.clone() if gradient.requires_grad else gradient.detach().clone()
    if gradient._dispatches() or leaf._dispatches():
        return gradient.clone()
    if gradient.stride() == leaf.stride() and gradient.dtype == leaf.dtype:
        made = gradient.detach().clone()  # of no version yet, as one that nobody else holds
        if made.stride() == leaf.stride():
            return made
    made = taeda.empty_like(leaf, dtype=gradient.dtype, memory_format=taeda.preserve_format)
    return made.detach().copy_(gradient.detach())


# ---- an in-place write through a view, seen from the base ----


Facts = tuple[Any, tuple[int, ...], tuple[int, ...], int, int, int]
"""dtype, sizes, strides, offset, conjugate bit, negative bit"""


def split_slices(gradient: Tensor, base: Facts, view: Facts) -> tuple[Tensor, Tensor, Facts, Facts]:
    """(the base's gradient laid out as its memory, a copy of the part under the view, both tensors'
    facts).
    """
    _, sizes, strides, _, conj, neg = base
    gradient = _toggled(gradient, conj, neg)
    if taeda.is_grad_enabled() and gradient.requires_grad:
        dense = gradient.clone(memory_format=taeda.contiguous_format)
    else:
        dense = _like_memory(gradient, sizes, strides)
    if dense.stride() != tuple(strides):
        dense = _like_memory(gradient, sizes, strides)
    return dense, _under(dense, base, view).clone(), base, view


def _like_memory(gradient: Tensor, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    if gradient._dispatches():  # its type says what such a tensor is
        return gradient.new_empty_strided(sizes, strides).copy_(gradient)
    made = taeda.empty_strided(sizes, strides, dtype=gradient.dtype, device=gradient.device)
    return made.copy_(gradient)


def _toggled(gradient: Tensor, conj: int, neg: int) -> Tensor:
    """From a tensor with these bits to its memory, and back."""
    if conj:
        gradient = gradient.conj().resolve_conj()
    return -gradient if neg else gradient


def _under(dense: Tensor, base: Facts, view: Facts) -> Tensor:
    """What a view of such facts shows of `dense`, which is laid out as the base but begins at 0."""
    dtype, sizes, strides, offset, conj, neg = view
    start = base[3]
    if dense.is_complex() and not dtype.is_complex:
        shown = taeda.view_as_real(dense).as_strided(sizes, strides, offset - 2 * start)
    elif dtype.is_complex and not dense.is_complex():
        pairs = (*sizes, 2), (*(2 * s for s in strides), 1), 2 * offset - start
        shown = taeda.view_as_complex(dense.as_strided(*pairs))
    else:
        shown = dense.as_strided(sizes, strides, offset - start)
    if conj:
        shown = shown.conj()
    return taeda._neg_view(shown) if neg else shown


def join_slices(parts: tuple[Tensor, Tensor, Facts, Facts], through: Tensor | None) -> Tensor:
    """The base's gradient: under the view what the write passed on (zero if it passed nothing),
    elsewhere unchanged.
    """
    dense, part, base, view = parts
    target = _under(dense, base, view)
    if through is None:
        target.zero_()
    else:
        target.copy_(fit_gradient(through, part.shape, part.dtype, part.device, None, 0))
    return _toggled(dense, base[4], base[5])


# ---- hooks: node._hooks is a dict of kinds ----


def _checked(result: Any, before: Tensor, who: str) -> Tensor:
    if not isinstance(result, Tensor):
        raise TypeError(f"{who} must return None or a Tensor, got {type(result).__name__}")
    if result.shape != before.shape:
        raise RuntimeError(
            f"{who} has changed the size of value: {list(before.shape)} became {list(result.shape)}"
        )
    if result.dtype is not before.dtype:
        raise RuntimeError(
            f"{who} has changed the type of value: {before.dtype} became {result.dtype}"
        )
    return result


def tensor(node: Any, gradients: tuple[Any, ...], unused: Any) -> tuple[Any, ...]:
    """Hooks of tensors, by output number."""
    changed = list(gradients)
    for number, hooks in list(node._hooks["tensor"].items()):
        for hook in list(hooks.values()):
            if changed[number] is None:
                continue
            result = hook(changed[number])
            if result is not None:
                changed[number] = _checked(result, changed[number], "hook")
    return tuple(changed)


def _replaced(result: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a hook of a node returned in place of `before`: as many gradients, each like the one
    that it replaces.
    """
    who = "hook of a node"
    if not isinstance(result, tuple):
        raise TypeError(f"{who} must return None or a tuple, got {type(result).__name__}")
    if len(result) != len(before):
        raise RuntimeError(
            f"{who} returned an incorrect number of gradients: {len(result)} instead of {len(before)}"
        )
    for number, (new, old) in enumerate(zip(result, before, strict=True)):
        if new is not None and old is None:
            raise RuntimeError(
                f"{who} gave entry {number} a gradient, where none came: it must stay None"
            )
        if new is not None:
            _checked(new, old, who)
    return result


def pre(node: Any, gradients: tuple[Any, ...], unused: Any) -> tuple[Any, ...]:
    """Hooks of the node before it runs: they get all gradients, and may return replacements."""
    for hook in list(node._hooks["pre"].values()):
        result = hook(gradients)
        if result is not None:
            gradients = _replaced(result, gradients)
    return gradients


def retain(node: Any, gradients: tuple[Any, ...], unused: Any) -> tuple[Any, ...]:
    """Fill .grad of the non-leaves that asked for it."""
    for number, reference in list(node._hooks["retain"].items()):
        owner, gradient = reference(), gradients[number]
        if owner is None or gradient is None:
            continue
        own = owner.grad
        owner.grad = gradient.clone() if own is None else own + gradient
    return gradients


def post(node: Any, gradients: tuple[Any, ...], came: tuple[Any, ...]) -> tuple[Any, ...]:
    """Hooks of the node after it ran: (gradients of its inputs, gradients that came)."""
    for hook in list(node._hooks["post"].values()):
        result = hook(gradients, came)
        if result is not None:
            gradients = _replaced(result, gradients)
    return gradients


def post_accumulate(node: Any, gradients: tuple[Any, ...], leaf: Tensor) -> tuple[Any, ...]:
    """Hooks of a leaf after its .grad was written."""
    for hook in list(node._hooks["post_accumulate"].values()):
        result = hook(leaf)  # a tensor is what in-place operations give back: left aside
        if not (result is None or isinstance(result, Tensor)):
            kind = type(result).__name__
            raise TypeError(f"a hook of register_post_accumulate_grad_hook gives None, not {kind}")
    return gradients


# ---- anomaly mode ----


def check_nan(node: Any, gradients: tuple[Any, ...]) -> None:
    """RuntimeError if a node returned NaN."""
    for number, gradient in enumerate(gradients):
        if (
            isinstance(gradient, Tensor)
            and (gradient.is_floating_point() or gradient.is_complex())
            and bool(gradient.isnan().any())
        ):
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {number}th output."
            )


def explain_failure(node: Any) -> None:
    """Warn with the forward lines that made the node that failed."""

    lines = node.metadata.get("traceback_")
    if lines:
        warn(
            f"Error detected in {node.name()}. Traceback of forward call that caused the "
            f"error:\n{''.join(lines)}",
            UserWarning,
        )
