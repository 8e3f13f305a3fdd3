"""Derivatives of views, and of copies in another order: gradients go back to where the elements came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

from ._registry import forward, linear, not_differentiable
from ._registry import rule_as_is as rule

Shape = tuple[int, ...]


def _inverse(order: list[int]) -> list[int]:
    back = [0] * len(order)
    for to, source in enumerate(order):
        back[source % len(order)] = to
    return back


# ---- shape ----
for _name in ("view", "view_as", "reshape", "reshape_as", "flatten.using_ints", "unflatten.int", "ravel",
              "squeeze", "squeeze.dim", "squeeze.dims", "squeeze_", "squeeze_.dim",
              "squeeze_.dims"):  # fmt: skip
    rule(_name, self=lambda grad, self_shape: grad.reshape(self_shape))
for _name in (
    "expand",
    "expand_as",
    "broadcast_to",
    "alias",
    "contiguous",
    "clone",
    "_to_copy",
    "resolve_conj",
    "resolve_neg",
):
    rule(_name, self=lambda grad: grad)  # broadcasting, dtype and device are undone by the engine
not_differentiable("view.dtype", "the bytes are read as other numbers")
not_differentiable("detach", "it is there to cut the graph")


def _as_strided(
    grad: Tensor,
    self_shape: Shape,
    self_strides: Shape,
    self_offset: int,
    size: list[int],
    stride: list[int],
    storage_offset: int | None,
) -> Tensor:
    offset = self_offset if storage_offset is None else storage_offset
    places = (self_shape, self_strides, self_offset, size, stride, offset)
    if not grad.is_complex():
        return _nn.as_strided_backward(grad, *places)
    pairs = taeda.view_as_real(grad.resolve_conj())
    return _as_complex(_nn.as_strided_backward(pairs, *_in_pairs(*places)))


def _in_pairs(*places: Any) -> tuple[Any, ...]:
    """Sizes, strides and offset, twice, of complex numbers as pairs of real ones."""
    made: list[Any] = []
    for sizes, strides, offset in (places[:3], places[3:]):
        made += [[*sizes, 2], [*(2 * s for s in strides), 1], 2 * offset]
    return tuple(made)


def _as_strided_again(
    grad: Tensor,
    input_sizes: Shape,
    input_strides: Shape,
    input_offset: int,
    size: list[int],
    stride: list[int],
    offset: int,
) -> Tensor:
    """Where elements of the input share memory, each has its part of the gradient; what lies
    between has none.
    """
    spans = [
        _span(*geometry)
        for geometry in ((input_sizes, input_strides, input_offset), (size, stride, offset))
        if 0 not in geometry[0]
    ]
    lowest = min((low for low, _ in spans), default=0)
    highest = max((high for _, high in spans), default=-1)
    here = _places(input_sizes, input_strides, input_offset - lowest, grad.device)
    there = _places(size, stride, offset - lowest, grad.device)
    memory = grad.new_zeros(highest - lowest + 1)
    shares = here.new_zeros(memory.shape).index_add(0, here, taeda.ones_like(here))
    wide = taeda.float32 if grad.dtype in (taeda.float16, taeda.bfloat16) else grad.dtype
    memory = memory.to(wide).index_add(0, here, grad.to(wide).reshape(-1))
    memory = memory / shares.clamp_min(1).to(wide)
    return memory[there].reshape(size).to(grad.dtype)


def _span(size: Sequence[int], stride: Sequence[int], offset: int) -> tuple[int, int]:
    """The first and the last place in memory of such a geometry."""
    return offset, offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _places(size: Sequence[int], stride: Sequence[int], offset: int, device: Any) -> Tensor:
    """Where in memory the elements of such a geometry lie, in their order."""
    places = taeda.full((1,), offset, dtype=taeda.int64, device=device)
    for length, step in zip(size, stride, strict=True):
        places = (places.unsqueeze(-1) + taeda.arange(length, device=device) * step).flatten()
    return places


rule("as_strided", self=_as_strided)
rule("as_strided_", self=_as_strided)
rule("as_strided_backward", grad_output=_as_strided_again)

# ---- dimensions ----
rule("permute", self=lambda grad, dims: grad.permute(_inverse(dims)))
for _name in ("transpose.int", "swapdims", "transpose_", "swapdims_"):
    rule(_name, self=lambda grad, dim0, dim1: grad.transpose(dim0, dim1))
for _name in ("swapaxes", "swapaxes_"):
    rule(_name, self=lambda grad, axis0, axis1: grad.transpose(axis0, axis1))
rule("movedim.int", self=lambda grad, source, destination: grad.movedim(destination, source))
rule("movedim.intlist", self=lambda grad, source, destination: grad.movedim(destination, source))
for _name in ("unsqueeze", "unsqueeze_"):
    rule(_name, self=lambda grad, dim: grad.squeeze(dim))
for _name in ("t", "t_"):
    rule(_name, self=lambda grad: grad.t())
rule("numpy_T", self=lambda grad: grad.permute(list(range(grad.dim()))[::-1]))
rule("mT", self=lambda grad: grad.mT if grad.dim() else grad)
rule("mH", self=lambda grad: grad.mH if grad.dim() else grad.conj())
rule("adjoint", self=lambda grad: grad.mH if grad.dim() else grad.conj())
rule("matrix_H", self=lambda grad: grad.mH if grad.dim() else grad.conj())

# ---- parts ----
rule(
    "select.int",
    self=lambda grad, self_shape, dim, index: _nn.select_backward(grad, self_shape, dim, index),
)
rule(
    "slice.Tensor",
    self=lambda grad, self_shape, dim, start, end, step: _nn.slice_backward(
        grad, self_shape, dim, start, end, step
    ),
)
rule(
    "diagonal",
    self=lambda grad, self_shape, offset, dim1, dim2: _nn.diagonal_backward(
        grad, self_shape, offset, dim1, dim2
    ),
)


def _unfold(grad: Tensor, self_shape: Shape, dimension: int, size: int, step: int) -> Tensor:
    if not self_shape:
        return grad.sum()
    return _nn.unfold_backward(grad, self_shape, dimension, size, step)


rule("unfold", self=_unfold)


def _narrow(grad: Tensor, self_shape: Shape, dim: int, start: int, length: int) -> Tensor:
    first = start + self_shape[dim] if start < 0 else start
    return _nn.slice_backward(grad, self_shape, dim, first, first + length, 1)


rule("narrow", self=_narrow)
rule(
    "narrow.Tensor",
    self=lambda grad, self_shape, dim, start, length: _narrow(
        grad, self_shape, dim, int(start), length
    ),
)


def _slice_again(grad: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return grad[(slice(None),) * (dim % grad.dim()) + (slice(start, end, step),)]


rule("select_backward", grad_output=lambda grad, dim, index: grad.select(dim, index))
rule("slice_backward", grad_output=_slice_again)
rule(
    "diagonal_backward",
    grad_output=lambda grad, offset, dim1, dim2: grad.diagonal(offset, dim1, dim2),
)
rule("unfold_backward", grad_in=lambda grad, dim, size, step: grad.unfold(dim, size, step))

# ---- several views ----


def _joined(
    grads: tuple[Tensor | None, ...], lengths: list[int], shape: Shape, dim: int
) -> Tensor | None:
    """Pieces side by side; zeros where a piece has no gradient."""
    given = next((g for g in grads if g is not None), None)
    if given is None:
        return None
    dim %= len(shape)
    pieces = [
        given.new_zeros((*shape[:dim], n, *shape[dim + 1 :])) if g is None else g
        for g, n in zip(grads, lengths, strict=True)
    ]
    return taeda.cat(pieces, dim)


def _equal_lengths(size: int, length: int, count: int) -> list[int]:
    return [min(length, size - i * length) for i in range(count)]


def _near_lengths(size: int, count: int) -> list[int]:
    return [size // count + (i < size % count) for i in range(count)]


def _unbind(grads: tuple[Tensor | None, ...], dim: int) -> Tensor | None:
    given = next((g for g in grads if g is not None), None)
    if given is None:
        return None
    return taeda.stack([taeda.zeros_like(given) if g is None else g for g in grads], dim)


def _split(
    grads: tuple[Tensor | None, ...], self_shape: Shape, split_size: int, dim: int
) -> Tensor | None:
    return _joined(grads, _equal_lengths(self_shape[dim], split_size, len(grads)), self_shape, dim)


def _chunk(
    grads: tuple[Tensor | None, ...], self_shape: Shape, chunks: int, dim: int
) -> Tensor | None:
    length = -(-self_shape[dim] // chunks)
    return _joined(grads, _equal_lengths(self_shape[dim], length, len(grads)), self_shape, dim)


def _cut(
    grads: tuple[Tensor | None, ...], shape: Shape, indices: list[int], dim: int
) -> Tensor | None:
    """Pieces between positions, which may overlap."""
    edges, total = [0, *indices, shape[dim]], None
    for g, start, end in zip(grads, edges[:-1], edges[1:], strict=True):
        if g is not None:
            part = _nn.slice_backward(g, shape, dim, start, end, 1)
            total = part if total is None else total + part
    return total


def _tensor_split(
    grads: tuple[Tensor | None, ...],
    self_shape: Shape,
    tensor_indices_or_sections: Tensor,
    dim: int,
) -> Tensor | None:
    if tensor_indices_or_sections.dim() == 0:
        return _joined(grads, _near_lengths(self_shape[dim], len(grads)), self_shape, dim)
    return _cut(grads, self_shape, tensor_indices_or_sections.tolist(), dim)


rule("unbind.int", self=_unbind)
rule("split.Tensor", self=_split)
rule(
    "split.sizes",
    self=lambda grads, self_shape, split_size, dim: _joined(grads, split_size, self_shape, dim),
)
rule(
    "split_with_sizes",
    self=lambda grads, self_shape, split_sizes, dim: _joined(grads, split_sizes, self_shape, dim),
)
rule("chunk", self=_chunk)
rule(
    "tensor_split.sections",
    self=lambda grads, self_shape, dim: _joined(
        grads, _near_lengths(self_shape[dim], len(grads)), self_shape, dim
    ),
)
rule(
    "tensor_split.indices",
    self=lambda grads, self_shape, indices, dim: _cut(grads, self_shape, indices, dim),
)
rule("tensor_split.tensor_indices_or_sections", self=_tensor_split)


def _named_split(name: str, dim_of: Callable[[Shape], int]) -> None:
    rule(
        f"{name}.int",
        self=lambda grads, self_shape: _joined(
            grads,
            _near_lengths(self_shape[dim_of(self_shape)], len(grads)),
            self_shape,
            dim_of(self_shape),
        ),
    )
    rule(
        f"{name}.array",
        self=lambda grads, self_shape, indices: _cut(
            grads, self_shape, indices, dim_of(self_shape)
        ),
    )


_named_split("hsplit", lambda shape: int(len(shape) > 1))
_named_split("vsplit", lambda shape: 0)
_named_split("dsplit", lambda shape: 2)

# ---- complex ----
rule("real", self=lambda grad: grad)
rule("imag", self=lambda grad: grad * 1j)


def _as_complex(grad: Tensor) -> Tensor:
    """The gradient read as complex numbers where it lies, or a copy of it if it does not lie in pairs."""
    outer = (*grad.stride()[:-1], grad.storage_offset())
    fits = grad.is_contiguous() and not any(step % 2 for step in outer)
    return taeda.view_as_complex(
        grad if fits else grad.clone(memory_format=taeda.contiguous_format)
    )


rule("view_as_real", self=_as_complex)
rule("view_as_complex", self=lambda grad: taeda.view_as_real(grad.resolve_conj()))
rule("conj", self=lambda grad: grad.conj())
rule("_conj", self=lambda grad: grad.conj())
rule("_neg_view", self=lambda grad: -grad)

# ---- copies in another order ----
rule("flip", self=lambda grad, dims: grad.flip(dims))
rule("roll", self=lambda grad, shifts, dims: grad.roll([-s for s in shifts], dims))


def _repeat(grad: Tensor, shape: Shape, repeats: list[int]) -> Tensor:
    """Every dimension of the gradient is (copies, size): sum over the copies."""
    lead = len(repeats) - len(shape)
    sizes = [1] * lead + list(shape)
    pairs = [n for r, s in zip(repeats, sizes, strict=True) for n in (r, s)]
    if not pairs:
        return grad
    return grad.reshape(pairs).sum(list(range(0, len(pairs), 2))).reshape(shape)


rule("repeat", self=lambda grad, self_shape, repeats: _repeat(grad, self_shape, repeats))
rule(
    "tile",
    self=lambda grad, self_shape, dims: _repeat(
        grad, self_shape, [1] * (len(self_shape) - len(dims)) + list(dims)
    ),
)
not_differentiable("repeat_interleave.Tensor", "it returns indices")

# ---- tangents: copies of elements are linear, and views of a tangent come of themselves ----
linear("clone", "_to_copy", "flip", "roll", "repeat", "tile")
linear(
    "select_backward",
    "slice_backward",
    "diagonal_backward",
    "unfold_backward",
    "as_strided_backward",
)


def _as_strided_forward(
    self_t: Tensor, self: Tensor, size: list[int], stride: list[int], storage_offset: int | None
) -> Tensor:
    """The tangent lies as its tensor does, elsewhere."""
    offset = self.storage_offset() if storage_offset is None else storage_offset
    return self_t.as_strided(size, stride, offset - self.storage_offset() + self_t.storage_offset())


forward("as_strided", _as_strided_forward)
