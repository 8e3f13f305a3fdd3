"""Regions in which listed operations run in a lower type, others in float32, and custom functions
that take part.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self, TypeVar

import taeda
from taeda import Tensor, dtype, get_autocast_dtype, is_autocast_enabled
from taeda._core_api import calls as layer
from taeda._core_api import warn

__all__ = [
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_LOWER = (taeda.bfloat16, taeda.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast exists for a kind of device.
    ValueError for what is no string, RuntimeError for an unknown kind.

    Args:
        device_type: kind of device, such as "cpu" or "cuda".

    >>> is_autocast_available("cpu")
    True
    """
    layer.is_autocast_enabled(device_type)  # refuses what it does not know
    return device_type in ("cpu", "cuda")


class autocast:
    """Region, as context or decorator, in which operations run in the type that suits them.

    Products and convolutions of float32 run in `dtype` (by default bfloat16 on the cpu, float16 on
    cuda), joins in the widest type they are given, and in float32 losses, on the cpu transforms and
    factorisations, on cuda sums, powers, exponentials, softmax and norms; what is not listed takes
    the types it gets. Tensors on other devices than `device_type`, float64, integers, in-place
    forms, `out=` and an explicit `dtype=` are left alone. Weights are cast once a region unless
    `cache_enabled` is False. Regions nest, with `enabled=False` as islands; the state is each
    thread's own.

    A dtype other than bfloat16 and float16, or a device that is not there, warns and switches off.
    RuntimeError for an unknown kind of device, ValueError for what is no string.

    Args:
        device_type: kind of device, such as "cpu" or "cuda".
        dtype: bfloat16 or float16 (None: bfloat16 on the cpu, float16 on cuda).
        enabled: whether the region does anything (True).
        cache_enabled: whether cast weights are kept (None: as `is_autocast_cache_enabled` says).

    >>> with autocast("cpu"):
    ...     print((taeda.ones(2, 2) @ taeda.ones(2, 2)).dtype)
    taeda.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._caches = cache_enabled
        self._before: list[layer.Snapshot] = []
        self._enabled = bool(enabled) and _can(device_type, self.fast_dtype)

    def __enter__(self) -> Self:
        self._before.append(layer.snapshot())
        layer.set_autocast_enabled(self.device, self._enabled)
        layer.set_autocast_dtype(self.device, self.fast_dtype)
        if self._caches is not None:
            layer.set_autocast_cache_enabled(self._caches)
        layer.autocast_increment_nesting()
        return self

    def __exit__(self, *raised: object) -> None:
        layer.leave(self._before.pop())

    def __call__(self, func: _F) -> _F:
        return autocast_decorator(self, func)


def autocast_decorator(region: autocast, func: _F) -> _F:
    """`func`, run in `region` at every call.

    Args:
        region: the region that each call enters.
        func: a function.

    >>> def product(a, b):
    ...     return (a @ b).dtype
    >>> low = taeda.amp.autocast_mode.autocast_decorator(taeda.autocast("cpu"), product)
    >>> low(taeda.ones(2, 2), taeda.ones(2, 2))
    taeda.bfloat16
    """

    @functools.wraps(func)
    def run(*args: Any, **kwargs: Any) -> Any:
        with region:
            return layer.call_user(None, func, *args, **kwargs)

    return run  # type: ignore[return-value]  # wraps() has made it one


def _can(device_type: str, fast_dtype: dtype) -> bool:
    if device_type != "cpu" and not (device_type == "cuda" and taeda.cuda.is_available()):
        warn(
            f"User provided device_type of '{device_type}', but it is not available. Disabling autocast.",
        )
        return False
    if fast_dtype not in _LOWER:
        name = device_type.upper()
        warn(
            f"In {name} autocast, but the target dtype {fast_dtype} is not supported. Disabling "
            f"autocast. {name} autocast only "
            "supports dtype of taeda.bfloat16, taeda.float16 currently.",
        )
        return False
    return True


# ---- custom functions ----


def _cast(value: Any, target: dtype) -> Any:
    """Floating-point tensors but float64, in any structure, as `target`."""
    if isinstance(value, Tensor):
        casts = value.is_floating_point() and value.dtype is not taeda.float64
        return value.to(target) if casts else value
    if isinstance(value, dict):
        return {_cast(k, target): _cast(v, target) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_cast(v, target) for v in value)
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None,
    *,
    device_type: str,
    cast_inputs: dtype | None = None,
) -> Callable[..., Any]:
    """Decorator of `forward` of a custom Function, for use in autocast regions.

    With `cast_inputs`, floating-point arguments come in that type and autocast is off inside;
    without, it goes on. Outside of a region it changes nothing. ValueError if `device_type` is no
    string.

    Args:
        fwd: the function below the decorator without further words (None).
        device_type: kind of device, such as "cpu" or "cuda".
        cast_inputs: floating-point dtype of the arguments (None: as they are).

    >>> class Double(taeda.autograd.Function):
    ...     @staticmethod
    ...     @taeda.amp.custom_fwd(device_type="cpu", cast_inputs=taeda.float32)
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @taeda.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> with taeda.autocast("cpu"):
    ...     print(Double.apply(taeda.ones(2, dtype=taeda.bfloat16)).dtype)
    taeda.float32
    """
    layer.is_autocast_enabled(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def run(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        inside = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = inside and cast_inputs is None
        if not inside or cast_inputs is None:
            return layer.call_user(None, fwd, ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            given, named = _cast(args, cast_inputs), _cast(kwargs, cast_inputs)
            return layer.call_user(None, fwd, ctx, *given, **named)

    return run


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorator of `backward` of a custom Function whose forward has `custom_fwd`: runs with the
    autocast state of forward.

    Args:
        bwd: the function below the decorator without further words (None).
        device_type: kind of device, as of `custom_fwd`.

    >>> class Double(taeda.autograd.Function):
    ...     @staticmethod
    ...     @taeda.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @taeda.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = taeda.ones(2, requires_grad=True)
    >>> Double.apply(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])
    """
    layer.is_autocast_enabled(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def run(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return layer.call_user(None, bwd, ctx, *args, **kwargs)

    return run
