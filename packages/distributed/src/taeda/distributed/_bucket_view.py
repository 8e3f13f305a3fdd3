"""What a communication hook sees of a bucket."""

from __future__ import annotations

from collections.abc import Sequence

from taeda import Tensor

__all__ = ["GradBucket"]


class GradBucket:
    """A bucket of gradients on its way. Which parameters are in number `index()` may change after
    the first step.

    Args:
        index: its number among the buckets, from 0.
        buffer: all its gradients as one row.
        views: each gradient, a view of the buffer.
        params: the parameters they are of.
        lengths: how many numbers each has.
        last: whether it is the last bucket of its backward.

    >>> from taeda import distributed as dist
    >>> weight, flat = taeda.zeros(2, 2), taeda.tensor([1.0, 2.0, 3.0, 4.0])
    >>> bucket = dist.GradBucket(0, flat, [flat.view(2, 2)], [weight], [4], last=True)
    >>> bucket.gradients()
    [tensor([[1., 2.],
            [3., 4.]])]
    """

    def __init__(
        self,
        index: int,
        buffer: Tensor,
        views: Sequence[Tensor],
        params: Sequence[Tensor],
        lengths: Sequence[int],
        last: bool,
    ) -> None:
        self._index, self._buffer, self._views, self._params = index, buffer, views, params
        self._lengths, self._last = lengths, last

    def index(self) -> int:
        """The bucket's number; 0 is reduced first."""
        return self._index

    def buffer(self) -> Tensor:
        """All gradients of the bucket as one flat tensor."""
        return self._buffer

    def gradients(self) -> list[Tensor]:
        """The gradients as views of the buffer, in the shapes of the parameters."""
        pieces = self._buffer.split(list(self._lengths))
        return [piece.view(param.shape) for piece, param in zip(pieces, self._params, strict=True)]

    def parameters(self) -> list[Tensor]:
        """The parameters, in the order of the gradients."""
        return list(self._params)

    def is_last(self) -> bool:
        """Is it the last one of a backward?"""
        return self._last

    def set_buffer(self, buffer: Tensor) -> None:
        """Put another tensor of the same length in the buffer's place. RuntimeError for another length."""
        if buffer.numel() != self._buffer.numel():
            raise RuntimeError(
                f"the bucket has {self._buffer.numel()} values, not {buffer.numel()}"
            )
        self._buffer = buffer.view(-1)

    def __repr__(self) -> str:
        kind = str(self._buffer.dtype).rpartition(".")[2]
        return f"GradBucket({self._index}, {len(self._params)} parameters, {self._buffer.numel()} of {kind})"
