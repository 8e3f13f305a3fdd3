"""What Python's own functions and operators ask of a tensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ._method import Tensor, method


@method
def __repr__(self: Tensor, *, tensor_contents: Any = None) -> str:
    from .printing import tensor_repr  # late: for who prints a tensor

    return tensor_repr(self)


@method
def _repr_html_(self: Tensor) -> str:
    """What a notebook shows: statistics, a histogram, a picture where it is one."""
    from .notebook import tensor_html  # late: for who shows a tensor

    return tensor_html(self)


@method
def __format__(self: Tensor, spec: str) -> str:
    if self.dim() == 0 and self.device.type != "meta" and type(self) is Tensor:
        return self.item().__format__(spec)
    return object.__format__(self, spec) if spec else repr(self)


@method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method
def __contains__(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex)):
        return bool((self == element).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


@method
def __complex__(self: Tensor) -> complex:
    return complex(self.item())


@method
def __reversed__(self: Tensor) -> Tensor:
    return self.flip(0) if self.dim() else self


@method
def __dir__(self: Tensor) -> list[str]:
    return sorted({*dir(type(self)), *self.__dict__})


@method
def __rdiv__(self: Tensor, other: Any) -> Tensor:
    return self.reciprocal() * other


@classmethod  # type: ignore[misc]  # set on the type below
def _torch_function(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """The default: run the function on plain tensors, and give results the subclass."""
    from .._layers.dispatch import default_torch_function  # late: it needs Tensor complete

    return default_torch_function(cls, func, types, args, kwargs or {})


setattr(Tensor, "__torch_function__", _torch_function)  # noqa: B010 - a method for mypy
