"""`__torch_dispatch__`: modes and tensor subclasses that see what operators run, below the derivative.

>>> import taeda
>>> class Names(TorchDispatchMode):
...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
...         print(func)
...         return func(*args, **(kwargs or {}))
>>> x = taeda.ones(2)
>>> with Names():
...     y = (x * 2).sum()
aten.mul.Tensor
aten.sum.default
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from taeda import Tensor
from taeda._layers import Mode, dispatch_modes

__all__ = [
    "TorchDispatchMode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode(Mode):
    """Sees every operator that runs in its `with` block, after autograd has recorded it.

    A subclass defines `__torch_dispatch__(self, func, types, args=(), kwargs=None)`: `func` is an
    overload of `taeda.ops`, args and kwargs are as its schema has them, without what equals a
    default; `types` are the types of arguments that have a `__torch_dispatch__` of their own. While
    it runs the mode is off and nothing is recorded; calling `func` goes to the next mode outwards,
    then to the types, then to the kernel. An operator that is written in others is not seen, those
    are. An in-place form arrives as such (`aten.add_.Tensor`), an out= form as the operator with
    the keyword `out`; of both what is written counts, not the answer.
    """

    _stack = dispatch_modes

    def __torch_dispatch__(
        self,
        func: Any,
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __torch_dispatch__")


# ---- the stack of modes ----


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The modes of this thread, the innermost last."""
    return list(dispatch_modes.entered)


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode, or None."""
    return dispatch_modes.entered[-1] if dispatch_modes.entered else None


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is active. There are none of the framework's own, so the argument changes nothing."""
    return bool(dispatch_modes.entered)


def _push_mode(mode: TorchDispatchMode) -> None:
    dispatch_modes.push(mode)


def _pop_mode() -> TorchDispatchMode:
    """Take the innermost mode off. IndexError if there is none."""
    found: TorchDispatchMode = dispatch_modes.pop()
    return found


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchDispatchMode]:
    """The innermost mode, which is off in the `with` block."""
    with dispatch_modes.innermost() as mode:
        yield mode


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[TorchDispatchMode]]:
    """In the `with` block no mode of outside is active; gives the modes that are off.
    Others may be entered inside.
    """
    modes = _get_current_dispatch_mode_stack()
    for _ in modes:
        dispatch_modes.pop()
    try:
        yield modes
    finally:
        for mode in modes:
            dispatch_modes.push(mode)


# ---- subclasses that hold tensors ----


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether an object is a tensor of a subclass that can be taken apart into the tensors that it
    holds, and made of them.

    Such a class defines `__tensor_flatten__(self) -> (names of attributes, context)` and a static
    `__tensor_unflatten__(inner, context, outer_size, outer_stride)`.
    """
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """The same of a type."""
    return (
        issubclass(t, Tensor)
        and t is not Tensor
        and hasattr(t, "__tensor_flatten__")
        and hasattr(t, "__tensor_unflatten__")
    )


def transform_subclass(
    t: Any,
    callback: Callable[[str, Any], Any],
    outer_size: Any = None,
    outer_stride: Any = None,
) -> Any:
    """Another tensor of the type of `t`, made of what `callback(name, tensor)` returns for each
    tensor that it holds.

    RuntimeError if the result has not the shape and strides that are asked for, those of `t` by default.
    """
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    size = t.size() if outer_size is None else outer_size
    stride = t.stride() if outer_stride is None else outer_stride
    made = type(t).__tensor_unflatten__(inner, context, size, stride)
    for what, wanted, got in (
        ("size", size, tuple(made.size())),
        ("stride", stride, tuple(made.stride())),
    ):
        if tuple(wanted) != got:
            raise RuntimeError(
                f"{type(t).__name__}.__tensor_unflatten__ made a tensor with {what} {got}, wanted "
                f"{tuple(wanted)}"
            )
    return made


def return_and_correct_aliasing(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, out: Any
) -> Any:
    """What `__torch_dispatch__` of a wrapper should return for `func`, if `out` is what it computed.

    What the operator writes (in place, by `out=`, or as its schema says) is returned itself. A view
    needs nothing: that it shares its counter of writes with its base is seen to where it is
    recorded.
    """
    keywords = kwargs or {}
    if keywords.get("out") is not None:
        return keywords["out"]
    if func.overloadpacket._inplace:
        return args[0]
    schema = func._parsed
    written = {
        a.alias: keywords[a.name] if a.name in keywords else args[i]
        for i, a in enumerate(schema.arguments)
        if a.mutated and (a.name in keywords or i < len(args))
    }
    if not written:
        return out
    results = list(out) if isinstance(out, (tuple, list)) else [out]
    exact = [
        written[r.alias] if r.mutated and r.alias in written else value
        for r, value in zip(schema.returns, results, strict=False)
    ]
    return (
        type(out)(exact) if isinstance(out, (tuple, list)) else exact[0] if schema.returns else out
    )
