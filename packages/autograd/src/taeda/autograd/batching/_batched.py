"""Batched: one tensor that stands for a sample, and holds all samples of a vmap along a hidden
first dimension.

A Batched is a meta tensor of the sample's shape, so whatever reaches it unseen fails instead of
reading one sample. What it stands for is `_value`, whose dimension 0 is the map of level `_level`;
that may be a Batched of an outer level again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import OVERRIDE, TRANSFORM

__all__ = [
    "WIDE",
    "Batched",
    "Level",
    "NeedsValue",
    "batched",
    "levels",
    "on_levels",
    "physical",
    "rank",
    "refuse_captured",
    "refuse_value",
    "rewrapped",
    "standing",
    "taken_apart",
    "unwrapped",
]

_META = taeda.device("meta")


#: what short floats compute in: a result is rounded to them once
WIDE = {
    taeda.float16: taeda.float32,
    taeda.bfloat16: taeda.float32,
    taeda.complex32: taeda.complex64,
}


class Level:
    """One vmap at work: its number, how many samples, what random functions do."""

    __slots__ = ("number", "randomness", "size")

    def __init__(self, number: int, size: int, randomness: str) -> None:
        self.number, self.size, self.randomness = number, size, randomness

    # ---- what rules ask of arguments ----

    def on(self, x: Any) -> bool:
        """Whether `x` has a sample for each of this level."""
        return type(x) is Batched and x._level == self.number

    def value(self, x: Any) -> Any:
        """All samples of `x`, along dimension 0; what has none stays."""
        return x._value if type(x) is Batched and x._level == self.number else x

    def full(self, x: Tensor) -> Tensor:
        """All samples; the same one for each where there is none."""
        if type(x) is Batched and x._level == self.number:
            return x._value
        return x.unsqueeze(0).expand(self.size, *x.shape)

    def padded(self, x: Any, wanted: int) -> Any:
        """All samples with dimensions of size 1 in between, so that they broadcast as single ones
        of that rank would.
        """
        if not self.on(x):
            return x
        value = x._value
        missing = wanted + 1 - rank(value)
        if missing <= 0:
            return value
        shape = value.shape
        return value.reshape(shape[0], *[1] * missing, *shape[1:])


class NeedsValue(RuntimeError):
    """Something in a mapped function asks for the value of a sample, which it has not.

    `shared` is the tensor that is the same for all samples, if it is to take what is different for
    each: one sample after another can write to it if each makes its own.
    """

    shared: Tensor | None = None

    def writes(self) -> int:
        """How often `shared` was written so far; 0 without one."""
        return 0 if self.shared is None else self.shared._version


def refuse_value(what: str) -> NoReturn:
    """NeedsValue, with what to do instead."""
    raise NeedsValue(
        f"vmap: It looks like you're using {what} inside of vmap: a sample has no value of its own there. "
        "Compute with tensors (taeda.where instead of a branch), or take it out of vmap"
    )


def refuse_captured() -> NoReturn:
    """RuntimeError for a function that is to compute with plain tensors, and met a sample."""
    raise RuntimeError(
        "vmap: a function of a user, which runs for one sample after another or for what all samples share, "
        "captured a tensor that has a value for each sample: pass it to that function as an argument"
    )


def _refused(what: str) -> Any:
    def method(self: Batched, *args: Any, **kwargs: Any) -> NoReturn:
        refuse_value(what)

    return method


class Batched(Tensor):
    """See the module. Made by `batched`."""

    _of_samples = True  # what core looks at where a call would change a tensor's memory
    _base = property(lambda self: None)  # the meta tensor is of no other
    share_memory_ = pin_memory = _refused("a call that moves the memory")
    item, tolist, numpy = (
        _refused(".item() on a Tensor"),
        _refused(".tolist()"),
        _refused(".numpy()"),
    )
    data_ptr, untyped_storage = _refused(".data_ptr()"), _refused("the storage of a Tensor")
    storage = _storage = _typed_storage = untyped_storage
    __bool__ = _refused("data-dependent control flow (`if`, `while`, `bool()` of a Tensor)")
    __int__, __float__ = _refused("int() of a Tensor"), _refused("float() of a Tensor")
    __complex__, __index__ = _refused("complex() of a Tensor"), _refused("a Tensor as an index")
    __contains__, __array__ = _refused("`in`"), _refused("numpy.asarray of a Tensor")
    __dlpack__ = _refused("DLPack")

    _value: Tensor
    _level: int

    def _choose(self, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        """`cond` by a sample's own element: both functions run."""
        from ._choose import choose

        return choose(self, true_fn, false_fn, operands)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        from ._call import call  # late: it is made of this class

        return call(func, args, kwargs or {})

    def __repr__(self, **unused: Any) -> str:
        return f"BatchedTensor(lvl={self._level}, bdim=0, value={self._value!r})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError(
            "a tensor inside of vmap cannot be pickled: it has a value for each sample"
        )


class _Here(threading.local):
    def __init__(self) -> None:
        self.levels: list[Level] = []
        self.apart: list[Level] = []


_here = _Here()


def levels() -> list[Level]:
    """The maps at work in this thread, outermost first."""
    return _here.levels


def standing() -> list[Level]:
    """The maps that a new tensor may have samples of: those at work, without those that are taken apart."""
    if not _here.apart:
        return list(_here.levels)
    return [level for level in _here.levels if level not in _here.apart]


@contextmanager
def taken_apart(taken: list[Level]) -> Iterator[None]:
    """While plain tensors stand for what these maps have: for one sample, or for all along a dimension. A
    transform that a user's function calls there must not take them for tensors that the samples share.
    """
    before = _here.apart
    _here.apart = [*before, *taken]
    try:
        yield
    finally:
        _here.apart = before


def rank(x: Any) -> int:
    """The number of dimensions, without asking any layer."""
    lost = 0
    while type(x) is Batched:
        x, lost = x._value, lost + 1
    return x.dim() - lost


def batched(value: Tensor, level: int) -> Batched:
    """A tensor whose samples lie along dimension 0 of `value`.

    `value` may have samples of an inner map: what a user's function gives for an outer one, inside of the
    inner one, has them if it captured a sample or calls a transform. The inner map stays outside.
    """
    if type(value) is Batched and value._level > level:
        return batched(batched(value._value.movedim(1, 0), level), value._level)
    if type(value) is Batched and value._level == level:
        refuse_captured()
    inner = value
    while type(inner) is Batched:
        inner = inner._value
    with _as_meta():
        meta = taeda.empty(value.shape[1:], dtype=inner.dtype, device=_META)
        made = Tensor._make_subclass(Batched, meta)
        made._value, made._level = value, level
    return made


def _as_meta() -> _core.Switches:
    """A context: the facts of a Batched are those of the meta tensor itself."""
    return _core.Switches(hide=TRANSFORM | OVERRIDE)


def physical(x: Any) -> Any:
    """The plain tensor below all maps."""
    while type(x) is Batched:
        x = x._value
    return x


def unwrapped(x: Any) -> tuple[Tensor, list[int]]:
    """(plain tensor, its levels): one for each of its first dimensions, innermost first."""
    found: list[int] = []
    while type(x) is Batched:
        found.append(x._level)
        x = x._value
    return x, found


def rewrapped(x: Tensor, numbers: list[int]) -> Any:
    """The inverse of `unwrapped`."""
    for number in reversed(numbers):
        x = batched(x, number)
    return x


def on_levels(x: Any, here: list[Level]) -> Any:
    """`x` with a sample of its own in each of these maps, outermost first.
    RuntimeError if it has samples of another map, which was taken apart.
    """
    plain, has = unwrapped(x)
    if not {level.number for level in here}.issuperset(has):
        refuse_captured()
    if len(has) == len(here):
        return x
    with _as_meta():
        for place, level in enumerate(here):  # outer maps lie before inner ones
            if level.number not in has:
                shape = list(plain.shape)
                shape.insert(place, level.size)
                plain = plain.unsqueeze(place).expand(shape)
    return rewrapped(plain, [level.number for level in reversed(here)])
