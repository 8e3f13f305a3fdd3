"""Which bytes of its storage a strided tensor shows."""

from __future__ import annotations

from taeda import Tensor

__all__ = ["extent", "is_dense", "reached", "row_major"]

Sizes = tuple[int, ...]


def extent(tensor: Tensor) -> tuple[int, int]:
    """The first byte of its storage that a tensor shows, and the one after the last."""
    count = tensor.numel()
    if count == 0:
        return 0, 0
    item = tensor.element_size()
    begin = tensor.storage_offset() * item
    if tensor.is_contiguous():
        return begin, begin + count * item
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return begin, begin + (sum((n - 1) * stride for n, stride in steps) + 1) * item


def is_dense(tensor: Tensor, nbytes: int) -> bool:
    """Whether a tensor shows each of `nbytes` bytes, all that it spans, exactly once."""
    if tensor.numel() * tensor.element_size() != nbytes:
        return False
    if tensor.is_contiguous():
        return True
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size > 1 and stride != expected:
            return False
        expected *= size
    return True


def reached(tensor: Tensor) -> Sizes:
    """Sizes that reach the same elements with the same strides, without the axes that repeat them."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(1 if stride == 0 else size for size, stride in steps)


def row_major(shape: Sizes) -> Sizes:
    """The strides of a contiguous tensor."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(shape)]))
