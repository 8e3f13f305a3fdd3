"""`StridedNestedTensor`: a batch of tensors that may differ in every size."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda._core_api.calls import disabled_torch_function

from ._pieces import joined, pieces_of

__all__ = ["StridedNestedTensor"]


class StridedNestedTensor(Tensor):
    """A batch of tensors of one rank that may differ in every size; made by `taeda.nested.nested_tensor` and
    `as_nested_tensor`.

    Operators give what they give for each tensor of the batch, or raise NotImplementedError.
    """

    __torch_function__ = staticmethod(disabled_torch_function)

    @property
    def is_nested(self) -> bool:  # type: ignore[override]  # read alone
        """True."""
        return True

    @property
    def layout(self) -> Any:  # type: ignore[override]  # read alone
        """That of its tensors: strided."""
        return taeda.strided

    @property
    def shape(self) -> Any:  # type: ignore[override]  # read alone
        """The sizes, the batch first. RuntimeError if the tensors differ in one: ask `size(dim)`."""
        return taeda.Size([self.size(dim) for dim in range(self.dim())])

    def size(self, dim: int | None = None) -> Any:
        """`shape`, or one size of it; RuntimeError for a size in which the tensors differ."""
        if dim is None:
            return self.shape
        sizes = [[len(self)], *core.parts_of(self).sizes()]
        if not -len(sizes) <= dim < len(sizes):
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-len(sizes)}, {len(sizes) - 1}], but "
                f"got {dim})"
            )
        if len({*sizes[dim]}) > 1:
            raise RuntimeError(
                f"size: the tensors of this nested tensor differ in dimension {dim % len(sizes)}: "
                f"{sizes[dim]}. Ask those of its unbind()"
            )
        return sizes[dim][0]

    def __len__(self) -> int:
        return len(core.parts_of(self).tensors)

    def numel(self) -> int:
        """How many elements all tensors have."""
        return sum(piece.numel() for piece in core.parts_of(self).tensors)

    @property
    def nbytes(self) -> int:  # type: ignore[override]  # read alone
        """How many bytes all tensors take."""
        return self.numel() * self.element_size()

    def is_contiguous(self, memory_format: Any = taeda.contiguous_format) -> bool:
        """Is each tensor contiguous?"""
        tensors = core.parts_of(self).tensors
        return all(piece.is_contiguous(memory_format=memory_format) for piece in tensors)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """See `taeda.nested.to_padded_tensor`."""
        from ._convert import to_padded_tensor  # asks for this class

        return to_padded_tensor(self, padding, output_size)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        tensors = core.parts_of(self).tensors
        lines = [repr(piece.detach()).replace("\n", "\n  ") for piece in tensors]
        history = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn is not None else ""
        if self.requires_grad and self.is_leaf:
            history = ", requires_grad=True"
        return "nested_tensor([\n  " + ",\n  ".join(lines) + f"\n]{history})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        tensors = [piece.detach() for piece in pieces_of(self.detach())]
        return _rebuild, (tensors, self.requires_grad, dict(self.__dict__) or None)


def _rebuild(tensors: list[Tensor], requires_grad: bool, state: Any) -> Tensor:
    made = joined(tensors)
    made.__dict__.update(state or {})
    return made.requires_grad_(requires_grad)
