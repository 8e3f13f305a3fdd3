"""Autocast: its state, of each thread, and the layer that casts the arguments of listed operations.

The gate (csrc/dispatch/dispatch.c) comes here for rows of the table that are cast on some device
only, while autocast is on: on the cpu a row's `autocast=` says so, on cuda `_cuda_casts.py`.
`taeda.amp` is what programs use.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .._native import core as _core
from . import AUTOCAST
from .foreign import named

if TYPE_CHECKING:
    from taeda import Tensor, dtype
else:
    Tensor, dtype = _core.Tensor, _core.dtype

__all__ = [
    "FLOAT32", "FLOAT32_ON_CPU", "FLOAT32_ON_CUDA",
    "autocast_decrement_nesting", "autocast_increment_nesting",
    "casts_to_float32", "clear_autocast_cache", "get_autocast_dtype", "is_autocast_cache_enabled",
    "is_autocast_enabled", "lower_type", "set_autocast_cache_enabled", "set_autocast_dtype",
    "set_autocast_enabled", "snapshot",
]  # fmt: skip

_LOWER, _FLOAT32 = _core.casts["LOWER"], _core.casts["FLOAT32"]
#: kinds for `call_autocast`: four bits for the cpu, four above for cuda
FLOAT32 = _FLOAT32 | _FLOAT32 << 4
FLOAT32_ON_CPU = _FLOAT32
FLOAT32_ON_CUDA = _FLOAT32 << 4
DEVICES = ("cpu", "cuda")
#: kinds of devices that this build has none of, and their lower type: casting is off there, and programs ask
_ELSEWHERE = {
    **dict.fromkeys(("ipu", "mps", "mtia", "privateuseone", "xpu"), _core.float16),
    **dict.fromkeys(("hpu", "maia", "xla"), _core.bfloat16),
}
_SINGLE, _LOW = _core.float32, (_core.bfloat16, _core.float16)
_CASTABLE = (_SINGLE, *_LOW)

#: what users registered for their operators: by name, the type for each device
own_rules: dict[str, dict[str, Any]] = {}


class _Kept(NamedTuple):
    """One weight in the lower type; the weight too, so that its id stays its own."""

    weight: Any
    version: int
    cast: Any


class _Here(threading.local):
    def __init__(self) -> None:
        self.enabled = dict.fromkeys(DEVICES, False)
        self.dtype = {"cpu": _core.bfloat16, "cuda": _core.float16, **_ELSEWHERE}
        self.caches = True
        self.nesting = 0
        self.cache: dict[tuple[int, Any], _Kept] = {}
        self.watcher: Any = None  # is told of casts, and asked for those of weights


_here = _Here()


# ---- state ----


def _known(device_type: str) -> str:
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str`, got: `{type(device_type).__name__}`"
        )
    if device_type not in _here.dtype:
        raise RuntimeError(
            f"unsupported autocast device_type '{device_type}': there are {', '.join(DEVICES)}"
        )
    return device_type


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether this thread casts on a device.

    Args:
        device_type: the kind of device, such as "cpu" or "cuda" (default: "cuda"). RuntimeError for
            a kind that nobody knows; False for one that this build does not cast on.

    >>> with taeda.autocast("cpu"):
    ...     print(taeda.is_autocast_enabled("cpu"))
    True
    >>> taeda.is_autocast_enabled("cpu")
    False
    """
    return _here.enabled.get(_known(device_type), False)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch casting of this thread on or off; `set_autocast_enabled(enabled)` means cuda.

    RuntimeError for an unknown kind of device, and for one to be switched on that this build does
    not cast on.

    Args:
        device_type: the kind of device, "cpu" or "cuda"; a bool in its place, alone, is `enabled`.
        enabled: whether calls are cast from now on; None (the default) if it came first.

    >>> taeda.set_autocast_enabled("cpu", True)
    >>> (taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype
    taeda.bfloat16
    >>> taeda.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", bool(device_type)
    kind = _known(str(device_type))
    if enabled and kind not in DEVICES:
        raise RuntimeError(f"no autocast on '{kind}' in this build: {', '.join(DEVICES)} have one")
    if enabled and kind == "cuda":
        _know_cuda()
    if kind in DEVICES:
        _here.enabled[kind] = bool(enabled)
    _core.set_layer_flag(AUTOCAST, _is_needed())


@functools.cache
def _know_cuda() -> None:
    """The table learns what is cast on cuda, when that is first asked for."""
    from ._cuda_casts import install

    install()


def _is_needed() -> bool:
    """Whether calls have to come here."""
    return any(_here.enabled.values())


def get_autocast_dtype(device_type: str) -> dtype:
    """The lower type of a device: bfloat16 on the cpu, float16 on cuda, unless set otherwise.

    Args:
        device_type: the kind of device, such as "cpu". RuntimeError for one that nobody knows.

    >>> taeda.get_autocast_dtype("cpu")
    taeda.bfloat16
    """
    return _here.dtype[_known(device_type)]


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """Choose the lower type of a device, in this thread.

    Args:
        device_type: the kind of device, such as "cpu". RuntimeError for one that nobody knows.
        dtype: what listed operations compute in while casting is on, bfloat16 or float16.
            TypeError for what is no dtype.

    >>> before = taeda.get_autocast_dtype("cpu")
    >>> taeda.set_autocast_dtype("cpu", taeda.float16)
    >>> taeda.get_autocast_dtype("cpu")
    taeda.float16
    >>> taeda.set_autocast_dtype("cpu", before)
    """
    if not isinstance(dtype, _core.dtype):
        raise TypeError(f"set_autocast_dtype: wanted a dtype, got {named(dtype)}")
    _here.dtype[_known(device_type)] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether a weight is cast once for all uses in a region.

    >>> taeda.is_autocast_cache_enabled()
    True
    """
    return _here.caches


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Cast weights once in a region, or each time.

    Args:
        enabled: whether the cast of a weight is kept for its next use (True at the start).

    >>> taeda.set_autocast_cache_enabled(False)
    >>> taeda.is_autocast_cache_enabled()
    False
    >>> taeda.set_autocast_cache_enabled(True)
    """
    _here.caches = bool(enabled)


def clear_autocast_cache() -> None:
    """Let go of the weights that were cast.

    >>> taeda.clear_autocast_cache()
    """
    _here.cache.clear()


def autocast_increment_nesting() -> int:
    """One region more is entered; how many there are.

    >>> taeda.autocast_increment_nesting()
    1
    >>> taeda.autocast_decrement_nesting()
    0
    """
    _here.nesting += 1
    return _here.nesting


def autocast_decrement_nesting() -> int:
    """One region is left; how many there are still.

    >>> _ = taeda.autocast_increment_nesting()
    >>> taeda.autocast_decrement_nesting()  # the outermost was left
    0
    """
    _here.nesting -= 1
    return _here.nesting


class Snapshot(NamedTuple):
    """What casting was like: `with snapshot().restored():` makes it so again."""

    enabled: dict[str, bool]
    dtype: dict[str, Any]
    caches: bool

    def put_back(self) -> None:
        """Make it so again, for good."""
        _here.dtype, _here.caches = dict(self.dtype), self.caches
        for device, enabled in self.enabled.items():
            set_autocast_enabled(device, enabled)

    @contextlib.contextmanager
    def restored(self) -> Iterator[None]:
        """As then, in the `with` block."""
        before = snapshot()
        self.put_back()
        autocast_increment_nesting()
        try:
            yield
        finally:
            leave(before)


def snapshot() -> Snapshot:
    """How this thread casts now."""
    return Snapshot(dict(_here.enabled), dict(_here.dtype), _here.caches)


def leave(before: Snapshot) -> None:
    """End a region: what was before it holds again, and nothing that was cast outlives the outermost."""
    before.put_back()
    if autocast_decrement_nesting() == 0:
        clear_autocast_cache()


def region() -> Any:
    """What calls in this thread depend on, of casts; None outside of all regions."""
    if not _here.nesting and not _is_needed():
        return None
    return *_here.enabled.values(), *_here.dtype.values(), _here.caches, _here.nesting > 0


def switches() -> tuple[Any, ...]:
    """All that is switched of casts in this thread, whether or not any call depends on it."""
    return *_here.enabled.values(), *_here.dtype.values(), _here.caches, _here.nesting


def watch(watcher: Any) -> Any:
    """Who is told of casts in this thread from now on, None for nobody; who was before.

    `casts(tensor)` is called before a tensor is cast; `weight(tensor, dtype)` gives the cast of a
    weight, as `cast_weight` does.
    """
    before, _here.watcher = _here.watcher, watcher
    return before


def keep_weight(tensor: Tensor, target: dtype, cast: Tensor) -> None:
    """From now on `cast` is what `cast_weight` gives for a weight, until that is written."""
    _here.cache[_key_of(tensor, target)] = _Kept(tensor, tensor._version, cast)


def _key_of(tensor: Tensor, target: dtype) -> tuple[int, Any]:
    return id(tensor), target


# ---- the layer ----


def call_autocast(
    func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], kind: int | str
) -> Any:
    """Run a listed operation on cast arguments; one that is told a dtype runs as it is.

    `kind` holds one of `core.casts` for the cpu and, four bits above, one for cuda; or it is the
    name of an operator with a rule in `own_rules`.
    """
    with _core.Switches(hide=AUTOCAST):
        if isinstance(kind, str):
            return _call_own(own_rules.get(kind, {}), func, args, kwargs)
        cpu, cuda = _targets(kind, args, kwargs)
        if cpu is cuda is None:
            return func(*args, **kwargs)
        if not kwargs:
            return func(*[_cast(value, cpu, cuda) for value in args])
        if kwargs.get("dtype") is not None:
            return func(*args, **kwargs)
        named = {name: _cast(value, cpu, cuda) for name, value in kwargs.items()}
        return func(*[_cast(value, cpu, cuda) for value in args], **named)


def _call_own(
    rule: dict[str, Any], func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run an operator of a user on arguments of the types that its rule says."""
    wanted = {device: kind for device, kind in rule.items() if _here.enabled[device]}
    for device, kind in wanted.items():
        if not isinstance(kind, _core.dtype) and device in _devices_of((args, kwargs)):
            return kind(*args, **kwargs)  # a function that its user gave for autocast
    wanted = {device: kind for device, kind in wanted.items() if isinstance(kind, _core.dtype)}
    named = {name: _own_cast(value, wanted) for name, value in kwargs.items()}
    return func(*[_own_cast(value, wanted) for value in args], **named)


def _devices_of(value: Any) -> set[str]:
    """The kinds of devices that tensors among arguments are on."""
    if isinstance(value, Tensor):
        return {value.device.type}
    if isinstance(value, dict):
        value = tuple(value.values())
    return set().union(*map(_devices_of, value)) if isinstance(value, (list, tuple)) else set()


def _own_cast(value: Any, wanted: dict[str, Any]) -> Any:
    if isinstance(value, Tensor):
        target = wanted.get(value.device.type)
        if target is None or value.dtype not in _CASTABLE:
            return value
        if _here.watcher is not None and value.dtype is not target:
            _here.watcher.casts(value)
        return value.to(target)
    if type(value) in (list, tuple):
        return type(value)(_own_cast(item, wanted) for item in value)
    return value


def _targets(
    kind: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dtype | None, dtype | None]:
    """What tensors on the cpu and on cuda become; None: they stay."""
    enabled, cpu, cuda = _here.enabled, None, None
    if enabled["cpu"] and (cast := kind & 15):
        cpu = _here.dtype["cpu"] if cast == _LOWER else _wide(cast, "cpu", args, kwargs)
    if enabled["cuda"] and (cast := kind >> 4):
        cuda = _here.dtype["cuda"] if cast == _LOWER else _wide(cast, "cuda", args, kwargs)
    return cpu, cuda


def _wide(cast: int, device: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dtype:
    if cast == _FLOAT32:
        return _SINGLE
    given = _tensors((*args, *kwargs.values()))
    kinds = {t.dtype for t in given if t.dtype in _CASTABLE and t.device.type == device}
    return _SINGLE if _SINGLE in kinds or len(kinds) > 1 else next(iter(kinds), _SINGLE)


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _cast(value: Any, cpu: dtype | None, cuda: dtype | None) -> Any:
    """Integers, float64, complex numbers and other devices are left alone."""
    if isinstance(value, Tensor):
        kind = value.dtype
        if kind not in _CASTABLE:
            return value
        target = cpu if value.is_cpu else cuda if value.is_cuda else None
        if target is None or kind is target:
            return value
        if kind is _SINGLE and value.requires_grad and _is_weight(value):
            watcher = _here.watcher
            return (cast_weight if watcher is None else watcher.weight)(value, target)
        if _here.watcher is not None:
            _here.watcher.casts(value)
        return value.to(target)
    if type(value) in (list, tuple):
        return type(value)(_cast(item, cpu, cuda) for item in value)
    return value


def _is_weight(tensor: Tensor) -> bool:
    """A leaf that is trained is most likely a weight, and used again."""
    return (
        _here.caches
        and _here.nesting > 0
        and tensor.is_leaf
        and not tensor._is_view()
        and _core.is_grad_enabled()
    )


def cast_weight(tensor: Tensor, target: dtype) -> Tensor:
    """A weight in the lower type, once for all of its uses in the outermost region."""
    key = _key_of(tensor, target)
    kept = _here.cache.get(key)
    if kept is None or kept.version != tensor._version:  # written since, by an optimizer's step
        kept = _here.cache[key] = _Kept(tensor, tensor._version, tensor.to(target))
    return kept.cast


def lower_type(device_type: str = "cpu") -> dtype | None:
    """What products on a device are computed in now, or None where nothing is cast."""
    on = _here.enabled.get(device_type) and not _core.get_excluded() & AUTOCAST
    return _here.dtype[device_type] if on else None


def casts_to_float32(function: Callable[..., Any], kind: int = FLOAT32) -> Callable[..., Any]:
    """Decorator of functions in Python that autocast runs in float32, as a row of the table with
    that class.
    """

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if _is_needed() and not _core.get_excluded() & AUTOCAST:
            return call_autocast(function, args, kwargs, kind)
        return function(*args, **kwargs)

    return run
