"""`NestedTensor`: a batch of tensors that differ in one size."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import disabled_torch_function

from ._graph import built, compact, components, entries
from ._parts import is_nested, parts_of

__all__ = ["NestedTensor"]


class NestedTensor(Tensor):
    """A batch of tensors of one rank that may differ in one size; made by the functions of `taeda.nested`.

    `shape` has a symbol in place of that size. Operators give what they give for each tensor of the batch, or
    raise NotImplementedError.
    """

    __torch_function__ = staticmethod(disabled_torch_function)

    @property
    def shape(self) -> Any:  # type: ignore[override]  # read alone
        """The sizes: of the batch first, a symbol such as `j1` for the ragged one."""
        return taeda.Size(parts_of(self).shape())

    def size(self, dim: int | None = None) -> Any:
        """`shape`, or one size of it."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def is_nested(self) -> bool:  # type: ignore[override]  # read alone
        """True."""
        return True

    def numel(self) -> int:
        """How many elements all tensors have."""
        return sum(piece.numel() for piece in components(self.detach()))

    @property
    def nbytes(self) -> int:  # type: ignore[override]  # read alone
        """How many bytes all tensors take."""
        return self.numel() * self.element_size()

    def item(self) -> Any:
        """The only number of the batch; RuntimeError if there are more or none."""
        if self.numel() != 1:
            raise RuntimeError(
                f"item(): wanted a nested tensor with exactly one element, but it has {self.numel()}"
            )
        return compact(self.detach())[1].item()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            raise RuntimeError(
                f"Boolean value of a nested tensor with {self.numel()} elements is ambiguous: use any() "
                "or all()"
            )
        return bool(self.item())

    def __len__(self) -> int:
        return len(parts_of(self).bounds)

    def values(self) -> Tensor:
        """The packed values, with gradients."""
        found = entries(self)[1]
        return found if found.requires_grad else found.detach()

    def offsets(self) -> Tensor:
        """Where each tensor begins in the values, and where the last ends."""
        return parts_of(self).offsets

    def lengths(self) -> Tensor | None:
        """How long each tensor is, where there are holes between them; else None."""
        return parts_of(self).lengths

    def _packed(self) -> tuple[Tensor, list[int], int]:
        """(values of sequences that follow each other, where each ends, the ragged dimension)."""
        parts, values = compact(self)
        return values, [end for _, end in parts.bounds], parts.ragged

    def _with_packed(self, values: Tensor) -> Tensor:
        """A nested tensor of such values, of the raggedness of this one."""
        return built(compact(self)[0], values)

    def is_contiguous(self, memory_format: Any = taeda.contiguous_format) -> bool:
        """Do the tensors follow each other in memory without a hole?"""
        parts = parts_of(self)
        own = parts.is_packed() and parts.ragged == 1
        return bool(own and parts.values.is_contiguous(memory_format=memory_format))

    def backward(
        self,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """As of other tensors; the gradient may have offsets of its own, of the same lengths."""
        if is_nested(gradient) and parts_of(gradient).counts() == parts_of(self).counts():
            gradient = built(compact(self)[0], compact(gradient)[1])
        super().backward(gradient, retain_graph, create_graph, inputs)

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """See `taeda.nested.to_padded_tensor`."""
        from ._convert import to_padded_tensor  # makes tensors of this class

        return to_padded_tensor(self, padding, output_size)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        parts = parts_of(self)
        shape = ", ".join(map(str, self.shape))
        more = ", requires_grad=True" if self.requires_grad and self.is_leaf else ""
        grad_fn = f", grad_fn=<{self.grad_fn.name()}>" if self.grad_fn is not None else ""
        return (
            f"NestedTensor(size=({shape}), offsets={parts.offsets}{grad_fn}{more}, contiguous="
            f"{self.is_contiguous()})"
        )

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = parts_of(self)
        facts = parts.values.detach(), parts.offsets, parts.lengths, parts.ragged
        return _rebuild, (*facts, self.requires_grad, dict(self.__dict__) or None)


def _rebuild(
    values: Tensor,
    offsets: Tensor,
    lengths: Tensor | None,
    ragged: int,
    requires_grad: bool,
    state: Any,
) -> Tensor:
    from ._construct import nested_tensor_from_jagged  # makes tensors of this class

    made = nested_tensor_from_jagged(values, offsets, lengths, ragged)
    made.__dict__.update(state or {})
    return made.requires_grad_(requires_grad)
