"""View operators that are written in terms of other operators."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the start; IndexError names the legal range.
    A 0-dim tensor counts as one dimension.
    """
    count = max(ndim, 1)
    if not -count <= dim < count:
        raise IndexError(
            f"Dimension out of range: expected one in [{-count}, {count - 1}], but got {dim}"
        )
    return dim % count


def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Expand all tensors to their common shape; the results share memory with the arguments."""
    shape = taeda.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t.expand(shape) for t in tensors)


def atleast_1d(self: Tensor) -> Tensor:
    """A 0-dim tensor gets one dimension; others stay as they are."""
    return self.reshape(1) if self.dim() == 0 else self


def atleast_2d(self: Tensor) -> Tensor:
    """A vector becomes a row."""
    if self.dim() == 0:
        return self.reshape(1, 1)
    return self.unsqueeze(0) if self.dim() == 1 else self


def atleast_3d(self: Tensor) -> Tensor:
    """A vector becomes (1, n, 1), a matrix (n, m, 1)."""
    if self.dim() == 0:
        return self.reshape(1, 1, 1)
    if self.dim() == 1:
        return self.unsqueeze(0).unsqueeze(-1)
    return self.unsqueeze(-1) if self.dim() == 2 else self


def atleast_1d_Sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:  # noqa: N802 - the overload's name
    """`atleast_1d` of each."""
    return tuple(map(atleast_1d, tensors))


def atleast_2d_Sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:  # noqa: N802 - the overload's name
    """`atleast_2d` of each."""
    return tuple(map(atleast_2d, tensors))


def atleast_3d_Sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:  # noqa: N802 - the overload's name
    """`atleast_3d` of each."""
    return tuple(map(atleast_3d, tensors))


def fliplr(self: Tensor) -> Tensor:
    """Reverse dimension 1."""
    if self.dim() < 2:
        raise RuntimeError(f"fliplr: input must be >= 2-d, got shape {list(self.shape)}")
    return self.flip((1,))


def flipud(self: Tensor) -> Tensor:
    """Reverse dimension 0."""
    if self.dim() < 1:
        raise RuntimeError("flipud: input must be >= 1-d, got a 0-dim tensor")
    return self.flip((0,))


def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """Turn the plane of two dimensions by k quarters, from the first towards the second."""
    if len(dims) != 2:
        raise RuntimeError(f"rot90: expected total rotation dims == 2, but got dims = {list(dims)}")
    if self.dim() < 2:
        raise RuntimeError(f"rot90: expected total dims >= 2, but got total dims = {self.dim()}")
    a, b = dims
    for d in (a, b):
        if not -self.dim() <= d < self.dim():
            raise RuntimeError(
                f"rot90: rotation dim {d} out of range for a tensor of {self.dim()} dimensions"
            )
    if a % self.dim() == b % self.dim():
        raise RuntimeError(
            f"rot90: expected rotation dims to be different, but got dim0 = {a} and dim1 = {b}"
        )
    turns = k % 4
    if turns == 0:
        return self.clone(memory_format=taeda.contiguous_format)
    if turns == 2:
        return self.flip((a, b))
    return (self.flip((b,)) if turns == 1 else self.flip((a,))).transpose(a, b)


def repeat_interleave_self_int(
    self: Tensor, repeats: int, dim: int | None, output_size: int | None
) -> Tensor:
    """Each element `repeats` times in a row, along `dim` or over all elements."""
    if repeats < 0:
        raise RuntimeError(f"repeat_interleave: repeats must be non-negative, got {repeats}")
    flat = self.flatten() if dim is None else atleast_1d(self)
    at = wrap_dim(dim or 0, flat.dim())
    size = flat.size(at) * repeats
    if output_size is not None and output_size != size:
        raise RuntimeError(
            f"repeat_interleave: output_size is {output_size} but the result has {size} places"
        )
    sizes = list(flat.shape)
    wide = flat.unsqueeze(at + 1).expand(*sizes[: at + 1], repeats, *sizes[at + 1 :])
    return wide.clone(memory_format=taeda.contiguous_format).reshape(
        *sizes[:at], size, *sizes[at + 1 :]
    )


def repeat_interleave_self_Tensor(  # noqa: N802 - the overload's name
    self: Tensor, repeats: Tensor, dim: int | None, output_size: int | None
) -> Tensor:
    """Element i `repeats[i]` times; one count stands for all."""
    flat = self.flatten() if dim is None else atleast_1d(self)
    at = wrap_dim(dim or 0, flat.dim())
    if repeats.dim() > 1:
        raise RuntimeError(
            f"repeat_interleave: repeats must be 0-dim or 1-dim, got shape {list(repeats.shape)}"
        )
    each = repeats.dim() == 1 and repeats.numel() == flat.size(at)
    if not each and repeats.numel() != 1:
        raise RuntimeError(
            "repeat_interleave: repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {repeats.numel()} and input.size({at}) = {flat.size(at)}"
        )
    counts = repeats if each else repeats.reshape(-1).expand(flat.size(at))
    return flat.index_select(at, taeda.repeat_interleave(counts, output_size=output_size))
