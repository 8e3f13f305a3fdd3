"""`MaskedTensor`: data, and bools that say which elements count."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import disabled_torch_function

from ._graph import built, data_of, is_masked, mask_of_parts, tensor_of
from ._printing import text_of

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]


class MaskedTensor(Tensor):
    """A tensor of which some elements do not count: those whose mask is False.

    Elementwise functions and views keep the mask, functions of two masked tensors want equal masks,
    reductions leave elements out. An operator without a rule raises NotImplementedError.

    Args:
        data: a strided tensor.
        mask: bools of the same shape: True for what counts.
        requires_grad: whether gradients are wanted, False by default; the tensor is a leaf in any case.

    >>> x = MaskedTensor(taeda.tensor([1.0, 2.0, 9.0]), taeda.tensor([True, True, False]))
    >>> x.sum().get_data().item(), (x * 2).get_mask().tolist()
    (3.0, [True, True, False])
    """

    __torch_function__ = staticmethod(disabled_torch_function)

    @staticmethod
    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> Any:
        _check(data, mask)
        made = tensor_of(data.detach().clone(), mask.detach().clone())
        return made.requires_grad_() if requires_grad else made

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        """Nothing is left to do: `__new__` has made the tensor."""

    @property
    def layout(self) -> Any:  # type: ignore[override]  # read alone
        """The layout of the data: strided."""
        return taeda.strided

    def get_data(self) -> Tensor:
        """The data as a plain tensor; gradients of what is computed with it come back."""
        found = data_of(self)
        return found if found.requires_grad else found.detach()

    def get_mask(self) -> Tensor:
        """The mask, of the data's shape."""
        return mask_of_parts(self).detach()

    def to_tensor(self, value: Any) -> Tensor:
        """A plain tensor with `value` at what does not count."""
        return data_of(self).masked_fill(~mask_of_parts(self), value)

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """The tensor itself, or in another dtype: its data is strided."""
        return self if dtype is None else self.to(dtype)

    def is_contiguous(self, memory_format: Any = taeda.contiguous_format) -> bool:
        """Whether the data is contiguous."""
        return bool(data_of(self).is_contiguous(memory_format=memory_format))

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return text_of(data_of(self.detach()), mask_of_parts(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        parts = data_of(self.detach()), mask_of_parts(self)
        return _rebuild, (*parts, self.requires_grad, dict(self.__dict__) or None)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "only masked tensors that a user made (leaves) can be deep-copied: detach() first"
            )
        made = _rebuild(data_of(self.detach()), mask_of_parts(self), self.requires_grad, None)
        memo[id(self)] = made
        return made


def _rebuild(data: Tensor, mask: Tensor, requires_grad: bool, state: Any) -> MaskedTensor:
    made = MaskedTensor(data, mask, requires_grad)
    made.__dict__.update(state or {})
    return made


def _check(data: Any, mask: Any) -> None:
    for name, given in (("data", data), ("mask", mask)):
        if not isinstance(given, Tensor):
            raise TypeError(f"{name} must be a Tensor, but got {type(given).__name__}")
        if is_masked(given):
            raise TypeError(f"{name} must be a plain Tensor, but got a MaskedTensor")
        if given.layout is not taeda.strided:
            raise TypeError(f"{name} must be strided, but its layout is {given.layout}")
        if given.is_quantized or given.is_nested:
            kind = "quantized" if given.is_quantized else "nested"
            raise TypeError(f"{name} must be a plain Tensor, but it is {kind}")
    if mask.dtype is not taeda.bool:
        raise TypeError(f"mask must have dtype bool, but it has {mask.dtype}")
    if data.shape != mask.shape:
        raise ValueError(
            f"data and mask want one shape, got {tuple(data.shape)} and {tuple(mask.shape)}"
        )
    if data.device != mask.device:
        raise ValueError(f"data is on {data.device}, but mask on {mask.device}")


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor with a copy of `data` and `mask`, a leaf of the graph. The arguments are those of
    `MaskedTensor`. TypeError for what is no tensor or a mask of other numbers than bools, ValueError for
    other shapes than one.

    Args:
        data: the values, a tensor of any dtype
        mask: a bool tensor of the data's shape, True where an element counts
        requires_grad: whether its gradient is recorded (default: False)

    >>> import taeda
    >>> taeda.masked.masked_tensor(taeda.tensor([1.0, 2.0]), taeda.tensor([True, False]))
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """A masked tensor of `data` itself: gradients flow back into it, 0 for what does not count. The
    arguments are those of `masked_tensor`.

    Args:
        data: the values, a tensor of any dtype
        mask: a bool tensor of the data's shape, True where an element counts

    >>> mask = taeda.tensor([True, False])
    >>> taeda.masked.as_masked_tensor(taeda.tensor([1.0, 2.0]), mask).sum()
    MaskedTensor(  1.0000, True)
    """
    _check(data, mask)
    made: Any = built(data, mask)
    return made


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether this is a `MaskedTensor`.

    Args:
        obj: any object

    >>> x = taeda.masked.masked_tensor(taeda.ones(2), taeda.tensor([True, False]))
    >>> taeda.masked.is_masked_tensor(x), taeda.masked.is_masked_tensor(taeda.ones(2))
    (True, False)
    """
    return isinstance(obj, MaskedTensor)
