"""Forward mode: tensors that carry a tangent through every operation.

with dual_level():
    dual = make_dual(x, direction)
    value, tangent = unpack_dual(f(dual))   # f(x), and the derivative of f along `direction`
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import DUAL, TRANSFORM, hidden

from . import _places
from .grad_mode import _Decorator

__all__ = [
    "UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual",
]  # fmt: skip

_current_level = -1  # there is one level at most: 0
_free = [0]  # the level that nobody has open


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent, which is None if the value has none.

    >>> from taeda.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(taeda.tensor([3.0]), taeda.tensor([1.0]))
    ...     print(forward_ad.unpack_dual(x).tangent)
    tensor([1.])
    """

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Open a level and return its number. All threads share one: RuntimeError if it is open already.

    >>> from taeda.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> x = forward_ad.make_dual(taeda.tensor([3.0]), taeda.tensor([1.0]))
    >>> forward_ad.unpack_dual(x.square()).tangent
    tensor([6.])
    >>> forward_ad.exit_dual_level()
    """
    if not opens_level():
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: a dual level is open. Leave it first"
        )
    if not _core.is_forward_on():
        exit_dual_level()
        raise RuntimeError(
            "enter_dual_level: operations leave tangents alone here, as in the forward of a Function: use "
            "`with dual_level():`, in which they do not"
        )
    return _current_level


def opens_level() -> bool:
    """Open a level unless one is open; whether it did. The question and the answer are one step, so
    no other thread comes between them.
    """
    global _current_level
    try:
        number = _free.pop()
    except IndexError:
        return False
    try:
        _core.enter_dual_level()
    except BaseException:
        _free.append(number)
        raise
    _current_level = number
    return True


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: every tangent is taken off its tensor.
    RuntimeError for another level than the open one.

    >>> from taeda.autograd import forward_ad
    >>> level = forward_ad.enter_dual_level()
    >>> forward_ad.exit_dual_level(level=level)
    """
    global _current_level
    if _current_level < 0:
        raise RuntimeError("no dual level is open: call enter_dual_level() first")
    if level is not None and level != _current_level:
        raise RuntimeError(
            f"Trying to exit forward AD level {level} that was not the last one that was created, "
            f"{_current_level}"
        )
    number = _current_level
    _core.exit_dual_level()
    _current_level = -1
    _free.append(number)


class dual_level(_Decorator):
    """Context (and decorator) in which dual tensors live, also in the forward of a Function. At its end their
    tangents are gone.

    >>> x = taeda.tensor(3.0)
    >>> with dual_level():
    ...     unpack_dual(make_dual(x, taeda.tensor(1.0)) ** 2).tangent
    tensor(6.)
    """

    def __enter__(self) -> int:
        self._shown = _places.hidden_tangents(False)
        self._shown.__enter__()
        try:
            return enter_dual_level()
        except BaseException:
            self._shown.__exit__(None, None, None)
            raise

    def __exit__(self, *unused: object) -> None:
        try:
            exit_dual_level()
        finally:
            self._shown.__exit__(None, None, None)


def _level(level: int | None, name: str) -> int:
    level = _current_level if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if level != _current_level:
        raise RuntimeError(
            f"Invalid level given to {name}: {level}, the open one is {_current_level}"
        )
    return level


def _check(tensor: Any, role: str) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Expected {role} to be a Tensor, but got: {type(tensor).__name__}")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(
            f"Expected {role} to be floating point or complex, but got: {tensor.dtype}"
        )


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` that carries `tangent`, a tensor of the same shape; both stay in the graph
    of backward.

    The tangent itself is kept where its strides are the tensor's, so an in-place write to the dual
    tensor writes it. RuntimeError without an open level, for another shape or device, or if one of
    the two is dual; ValueError for integers.

    >>> with dual_level():
    ...     unpack_dual(make_dual(taeda.ones(2), taeda.ones(2)) * 3).tangent
    tensor([3., 3.])
    """
    _level(level, "make_dual")
    if _is_mapped(tensor, tangent):
        return dual_of_samples(tensor, tangent)
    _check(tensor, "primal")
    _check(tangent, "tangent")
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor: "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}"
        )
    if tensor.device != tangent.device:
        raise RuntimeError(f"the tensor is on {tensor.device}, its tangent on {tangent.device}")
    if _places.tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level is not supported"
        )
    if _places.tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level is not supported"
        )
    dual = _places.apart(tensor)
    if not taeda.is_inference_mode_enabled():
        _core.set_tangent(dual, _places.laid_out_as(tensor, tangent))
    return dual


def _is_mapped(*tensors: Any) -> bool:
    """Whether one of these is a sample inside of `vmap`."""
    if not _core.get_layers() & TRANSFORM:
        return False
    from .batching import Batched  # late: for vmap alone

    return any(type(x) is Batched for x in tensors)


def dual_of_samples(primal: Tensor, tangent: Tensor) -> Tensor:
    """A dual tensor of all samples of the maps at work: each has a value and a tangent of its own, also
    where the two were no samples.
    """
    from .batching import (  # late: for vmap alone
        on_levels,
        physical,
        rewrapped,
        standing,
        unwrapped,
    )

    here = standing()
    (value, numbers), slope = unwrapped(on_levels(primal, here)), on_levels(tangent, here)
    with hidden(TRANSFORM):
        made: Tensor = rewrapped(make_dual(value, physical(slope)), numbers)
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(value without tangent, tangent or None). Outside a level, and where forward mode is off, as it
    is in the `jvp` of a Function: (tensor, None).

    >>> from taeda.autograd import forward_ad
    >>> with forward_ad.dual_level():
    ...     x = forward_ad.make_dual(taeda.tensor([3.0]), taeda.tensor([1.0]))
    ...     primal, tangent = forward_ad.unpack_dual(x * 2)
    >>> primal, tangent
    (tensor([6.]), tensor([2.]))
    """
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if _is_mapped(tensor):
        return _unpacked_samples(tensor, level)
    tangent = _places.tangent_of(tensor) if _core.is_forward_on() else None
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(_places.apart(tensor), tangent)


def _unpacked_samples(samples: Tensor, level: int) -> UnpackedDualTensor:
    from .batching import rewrapped, unwrapped  # late: for vmap alone

    plain, numbers = unwrapped(samples)
    with hidden(TRANSFORM):
        value, slope = unpack_dual(plain, level=level)
    if slope is None:
        return UnpackedDualTensor(samples, None)
    return UnpackedDualTensor(rewrapped(value, numbers), rewrapped(slope, numbers))


class _set_fwd_grad_enabled(_core.Switches, _Decorator):
    """Context: operations do not propagate tangents inside (or, with True, do so again)."""

    def __new__(cls, mode: bool) -> Self:
        return super().__new__(cls, **{"show" if mode else "hide": DUAL})

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> _set_fwd_grad_enabled:
        return type(self)(self.mode)
