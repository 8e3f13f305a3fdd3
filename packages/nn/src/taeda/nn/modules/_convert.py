"""Moves the tensors of a module: to another dtype, device or memory format, in place for the module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda import Tensor
from taeda.__future__ import (
    get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion,
)
from taeda._core_api import warn
from taeda.utils import swap_tensors
from taeda.utils._python_dispatch import is_traceable_wrapper_subclass

from ..parameter import Parameter
from ._traversal import Traversal

__all__ = ["Conversion", "like_parameter", "parse_to"]


class Conversion(Traversal):
    """The part of Module that maps a function over its tensors. Every method returns the module."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace every parameter, its gradient, and every buffer by what `fn` makes of it.

        A parameter stays the same object, so that optimizers remain valid; only where its memory
        cannot be exchanged (to or from the meta device) a new one takes its place.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._taeda_apply_to_parameter(name, param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _taeda_apply_to_parameter(
        self, name: str, param: Parameter, fn: Callable[[Tensor], Tensor]
    ) -> None:
        with taeda.no_grad():
            applied = fn(param)
        grad = param.grad
        if get_swap_module_params_on_conversion() or _holds_tensors(param, applied):
            self._taeda_swap_parameter(name, param, applied, fn)
            return
        fresh = get_overwrite_module_params_on_conversion() or not _exchangeable(param, applied)
        if fresh:
            param = Parameter(applied, param.requires_grad)
            self._parameters[name] = param
        elif applied is not param:
            param.data = applied
        if grad is None:
            return
        with taeda.no_grad():
            moved = fn(grad)
        if fresh or not _exchangeable(grad, moved):
            param.grad = moved.requires_grad_(grad.requires_grad)
        elif moved is not grad:
            grad.data = moved

    def _taeda_swap_parameter(
        self, name: str, param: Parameter, applied: Tensor, fn: Callable[[Tensor], Tensor]
    ) -> None:
        """The parameter, its gradient too, stays the same object and becomes what `fn` made."""
        grad, param.grad = param.grad, None
        try:
            if applied is not param:
                swap_tensors(param, like_parameter(param, applied))
        except MemoryError:  # it keeps its type
            raise
        except RuntimeError as error:
            raise RuntimeError(
                f"_apply(): Couldn't swap {type(self).__name__}.{name}: {error}"
            ) from error
        if grad is None:
            return
        with taeda.no_grad():
            moved = fn(grad)
        if moved is not grad:
            swap_tensors(grad, moved)
        param.grad = grad

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move parameters and buffers: `to(device, dtype, non_blocking)`, `to(dtype)` or `to(tensor)`.

        Only floating-point and complex tensors change their dtype; `memory_format` applies to those of
        four or five dimensions. Raises TypeError for a dtype that is neither.
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
            if dtype.is_complex:
                warn(
                    "Complex modules are a new feature under active development whose design may "
                    "change, and some modules might not work as expected when using complex tensors.",
                )

        def move(tensor: Tensor) -> Tensor:
            wanted = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            if tensor.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use taeda.nn.Module.to_empty() "
                    f"instead of to() when moving a module from meta to {device}."
                )
            more = {}
            if memory_format is not None and tensor.dim() in (4, 5):
                more["memory_format"] = memory_format
            return tensor.to(
                tensor.device if device is None else device,
                tensor.dtype if wanted is None else wanted,
                non_blocking,
                **more,
            )

        return self._apply(move)

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Move to a device without copying the values, which are then arbitrary."""
        return self._apply(lambda t: taeda.empty_like(t, device=device), recurse=recurse)

    def type(self, dst_type: Any) -> Self:
        """Cast all parameters and buffers, integer ones too."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Cast floating-point parameters and buffers to float32."""
        return self._taeda_cast(taeda.float32)

    def double(self) -> Self:
        """Cast floating-point parameters and buffers to float64."""
        return self._taeda_cast(taeda.float64)

    def half(self) -> Self:
        """Cast floating-point parameters and buffers to float16."""
        return self._taeda_cast(taeda.float16)

    def bfloat16(self) -> Self:
        """Cast floating-point parameters and buffers to bfloat16."""
        return self._taeda_cast(taeda.bfloat16)

    def _taeda_cast(self, dtype: taeda.dtype) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Move to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Move to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def ipu(self, device: Any = None) -> Self:
        """Move to an IPU."""
        return self._taeda_to_kind("ipu", device)

    def xpu(self, device: Any = None) -> Self:
        """Move to an XPU."""
        return self._taeda_to_kind("xpu", device)

    def mtia(self, device: Any = None) -> Self:
        """Move to an MTIA device."""
        return self._taeda_to_kind("mtia", device)

    def _taeda_to_kind(self, kind: str, device: Any) -> Self:
        if isinstance(device, int):
            device = f"{kind}:{device}"
        return self.to(taeda.device(kind if device is None else device))


def like_parameter(param: Tensor, value: Tensor) -> Tensor:
    """`value` as what `param` is: a parameter of its type, or a tensor, requiring grad as it does."""
    if isinstance(param, Parameter) and not isinstance(value, Parameter):
        own = issubclass(type(param), Parameter) and type(value) is Tensor
        kind: Any = type(param) if own else Parameter
        made: Tensor = kind(value.detach(), requires_grad=param.requires_grad)
        return made
    return value.detach().requires_grad_(param.requires_grad) if value is param else value


def _exchangeable(old: Tensor, new: Tensor) -> bool:
    """May `old` take over the memory of `new`? Not across the border of the meta device."""
    return old.is_meta == new.is_meta and old.layout == new.layout


def _holds_tensors(old: Tensor, new: Tensor) -> bool:
    """Is one of them of a class that keeps other tensors inside, so that there is no memory to exchange?"""
    return is_traceable_wrapper_subclass(old) or is_traceable_wrapper_subclass(new)


def parse_to(
    *args: Any,
    device: Any = None,
    dtype: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
    tensor: Tensor | None = None,
    copy: bool | None = None,
) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of the arguments of `to`. Raises TypeError."""
    if copy is not None:
        raise TypeError("to() received an invalid argument: a module cannot be copied by `copy`")
    rest = list(args)
    first = rest[0] if rest else tensor
    if isinstance(first, Tensor):
        device, dtype, rest = first.device, first.dtype, rest[1:]
    elif isinstance(first, taeda.dtype):
        dtype, rest = first, rest[1:]
    elif rest:
        device, rest = rest[0], rest[1:]
        if rest and (rest[0] is None or isinstance(rest[0], taeda.dtype)):
            dtype, rest = rest[0], rest[1:]
    if rest:
        non_blocking, rest = rest[0], rest[1:]
    if rest or not isinstance(non_blocking, bool):
        raise TypeError(
            "to() received an invalid combination of arguments; it takes (device, dtype, non_blocking), "
            f"(dtype, non_blocking) or (tensor, non_blocking), got {args}"
        )
    if device is not None and not isinstance(device, taeda.device):
        device = taeda.device(device)
    if dtype is not None and not isinstance(dtype, taeda.dtype):
        raise TypeError(f"to(): `dtype` must be a taeda.dtype, not {type(dtype).__name__}")
    return device, dtype, non_blocking, memory_format
