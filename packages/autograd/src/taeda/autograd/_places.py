"""Where tangents are put.

A tangent lies in memory as its tensor does. Views of a dual tensor have views of its tangent, and a
write in place writes the tangent in place, so that all views see it.
"""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import DUAL

__all__ = ["apart", "hidden_tangents", "laid_out_as", "place", "tangent_of", "without_graph"]

# ---- layout ----


def _same_strides(x: Tensor, y: Tensor) -> bool:
    return all(a == b or n == 1 for a, b, n in zip(x.stride(), y.stride(), x.shape, strict=True))


def _is_dense(x: Tensor) -> bool:
    """Whether the elements fill a piece of memory, each its own place, in some order."""
    expected = 1
    for stride, size in sorted(zip(x.stride(), x.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def laid_out_as(primal: Tensor, tangent: Tensor) -> Tensor:
    """The tangent itself if it has the strides of `primal`, else a copy that has them where
    `primal` is dense.
    """
    if not tangent.numel() or _same_strides(primal, tangent) or not _is_dense(primal):
        return tangent
    return tangent.new_empty_strided(primal.shape, primal.stride()).copy_(tangent)


# ---- places ----


def tangent_of(x: Tensor) -> Tensor | None:
    """The tangent of `x`: its own, or for a view that was made earlier its part of the base's."""
    own: Tensor | None = _core.get_tangent(x)
    base = None if own is not None else _core.tangent_base(x)
    whole = None if base is None else _core.get_tangent(base)
    if base is None or whole is None:
        return own
    if not _same_strides(base, whole):
        whole = whole.new_empty_strided(base.shape, base.stride()).copy_(whole)
        _core.set_tangent(base, whole)
    part = _part(x, base, whole)
    _core.set_tangent(x, part)
    return part


def _part(x: Tensor, base: Tensor, whole: Tensor) -> Tensor:
    """What a view `x` of `base` sees of the base's tangent."""
    at, start, moved = x.storage_offset(), base.storage_offset(), whole.storage_offset()
    if x.is_complex() == base.is_complex():
        part = whole.as_strided(x.shape, x.stride(), at - start + moved)
    elif base.is_complex():
        part = taeda.view_as_real(whole).as_strided(x.shape, x.stride(), at + 2 * (moved - start))
    else:
        strides = (*(2 * s for s in x.stride()), 1)
        pairs = whole.as_strided((*x.shape, 2), strides, 2 * at - start + moved)
        part = taeda.view_as_complex(pairs)
    if x.is_conj():
        part = part.conj()
    return taeda._neg_view(part) if x.is_neg() else part


def hidden_tangents(on: bool = True) -> _core.Switches:
    """A context: operations of this thread leave tangents alone (or, with False, do so no longer)."""
    return _core.Switches(hide=DUAL) if on else _core.Switches(show=DUAL)


def apart(x: Tensor) -> Tensor:
    """The same tensor in the graph of backward; in forward mode one of its own, without a tangent."""
    with hidden_tangents():
        made: Tensor = taeda.alias(x)
    _core.set_apart(made)
    return made


def without_graph(x: Tensor) -> Tensor:
    """Detached from backward, not from forward mode. What was made in inference mode cannot take part in a
    graph, so it is copied.
    """
    made = x.clone() if x.is_inference() and not taeda.is_inference_mode_enabled() else x.detach()
    tangent = tangent_of(x) if _core.is_forward_on() else None
    if tangent is not None:
        _core.set_tangent(made, tangent)
    return made


def place(x: Tensor, tangent: Tensor | None) -> None:
    """Make `tangent` (None: zero) that of `x`, in place where `x` or the base of its memory has one."""
    before = tangent_of(x)
    if before is None:
        if tangent is None:
            return
        base = _core.tangent_base(x)
        if base is None:
            _core.set_tangent(x, tangent)
            return
        zeros = taeda.zeros((), dtype=base.dtype, device=base.device).expand(base.shape)
        _core.set_tangent(base, laid_out_as(base, zeros).clone())
        before = tangent_of(x)
        assert before is not None
    if not _writable(before, x):
        _core.set_tangent(x, taeda.zeros_like(x) if tangent is None else tangent)
    elif tangent is None:
        before.zero_()
    else:
        before.copy_(tangent)


def _writable(tangent: Tensor, x: Tensor) -> bool:
    """Not where the write changed the shape, nor a leaf of the graph, nor one memory place for
    several elements.
    """
    leaf = tangent.is_leaf and tangent.requires_grad and taeda.is_grad_enabled()
    return tangent.shape == x.shape and not leaf and (_is_dense(tangent) or not _overlaps(tangent))


def _overlaps(x: Tensor) -> bool:
    return any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape, strict=True))
