"""The older names `taeda.cuda.amp` and `taeda.cpu.amp`: the same things with the device in the
module's name. Each warns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import dtype
from taeda._core_api import warn

from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["older_autocast", "older_custom_bwd", "older_custom_fwd", "older_scaler"]


def _warn(device: str, name: str) -> None:
    warn(
        f"taeda.{device}.amp.{name} is the older name: use taeda.amp.{name}, with '{device}' as its device",
        FutureWarning,
    )


def older_autocast(device: str, lower: dtype) -> type[autocast]:
    """`autocast(enabled, dtype, cache_enabled)` of one device."""

    class Autocast(autocast):
        __doc__ = f"""`taeda.autocast('{device}')`; the older name.

        Args:
            enabled: whether the region does anything (True).
            dtype: bfloat16 or float16 ({str(lower).partition(".")[2]}).
            cache_enabled: whether cast weights are kept (True).

        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     region = taeda.{device}.amp.autocast(enabled=False)
        >>> with region:
        ...     (taeda.eye(2) @ taeda.ones(2, 2)).dtype
        taeda.float32
        """

        def __init__(
            self, enabled: bool = True, dtype: dtype = lower, cache_enabled: bool = True
        ) -> None:
            _warn(device, "autocast")
            super().__init__(device, dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)

    return _named(Autocast, device, "autocast")


def older_scaler(device: str) -> type[GradScaler]:
    """`GradScaler(init_scale, ...)` of one device."""

    class Scaler(GradScaler):
        __doc__ = f"""`taeda.amp.GradScaler('{device}')`; the older name.

        Args:
            init_scale: the first scale (65536).
            growth_factor: factor after good steps, above 1 (2).
            backoff_factor: factor after an overflow, below 1 (0.5).
            growth_interval: good steps in a row before the scale grows (2000).
            enabled: whether anything is done (True).

        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     scaler = taeda.{device}.amp.GradScaler(enabled=False)
        >>> scaler.scale(taeda.tensor(3.0)).item()
        3.0
        """

        def __init__(
            self,
            init_scale: float = 2.0**16,
            growth_factor: float = 2.0,
            backoff_factor: float = 0.5,
            growth_interval: int = 2000,
            enabled: bool = True,
        ) -> None:
            _warn(device, "GradScaler")
            super().__init__(
                device, init_scale, growth_factor, backoff_factor, growth_interval, enabled
            )

    return _named(Scaler, device, "GradScaler")


def _named(kind: Any, device: str, name: str) -> Any:
    kind.__name__ = kind.__qualname__ = name
    kind.__module__ = f"taeda.{device}.amp"
    return kind


def older_custom_fwd(device: str) -> Callable[..., Any]:
    """`custom_fwd(fwd, cast_inputs=None)` of one device."""

    def older(fwd: Callable[..., Any] | None = None, *, cast_inputs: dtype | None = None) -> Any:
        """`taeda.amp.custom_fwd`; the older name.

        Args:
            fwd: the function below the decorator without further words (None).
            cast_inputs: floating-point dtype of the arguments (None: as they are).

        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     class Double(taeda.autograd.Function):
        ...         forward = staticmethod(taeda.cuda.amp.custom_fwd(lambda ctx, x: 2 * x))
        ...         backward = staticmethod(taeda.cuda.amp.custom_bwd(lambda ctx, g: 2 * g))
        >>> Double.apply(taeda.ones(2)).tolist()
        [2.0, 2.0]
        """
        _warn(device, "custom_fwd")
        return custom_fwd(fwd, device_type=device, cast_inputs=cast_inputs)

    return _named(older, device, "custom_fwd")


def older_custom_bwd(device: str) -> Callable[..., Any]:
    """`custom_bwd(bwd)` of one device."""

    def older(bwd: Callable[..., Any] | None = None) -> Any:
        """`taeda.amp.custom_bwd`; the older name.

        Args:
            bwd: the function below the decorator without further words (None).

        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     class Double(taeda.autograd.Function):
        ...         forward = staticmethod(taeda.cuda.amp.custom_fwd(lambda ctx, x: 2 * x))
        ...         backward = staticmethod(taeda.cuda.amp.custom_bwd(lambda ctx, g: 2 * g))
        >>> x = taeda.ones(2, requires_grad=True)
        >>> Double.apply(x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 2.0]
        """
        _warn(device, "custom_bwd")
        return custom_bwd(bwd, device_type=device)

    return _named(older, device, "custom_bwd")
