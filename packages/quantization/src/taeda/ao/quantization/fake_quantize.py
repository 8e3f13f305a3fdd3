"""Fake quantizers: observers whose result is rounded to the steps that it will have, so that training knows.

>>> import taeda
>>> fake = FakeQuantize(observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255)
>>> fake(taeda.tensor([0.0, 0.1234, 255.0])).tolist()
[0.0, 0.0, 255.0]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor, nn

from ._words import INTEGERS, Factory, is_float_qparams, is_per_channel, is_symmetric, with_args
from .observer import (
    FixedQParamsObserver,
    HistogramObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)

__all__ = [
    "FakeQuantize", "FakeQuantizeBase", "FixedQParamsFakeQuantize", "FusedMovingAvgObsFakeQuantize",
    "default_affine_fixed_qparams_fake_quant", "default_dynamic_fake_quant",
    "default_embedding_fake_quant", "default_embedding_fake_quant_4bit", "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant", "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant", "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant", "default_histogram_fake_quant",
    "default_per_channel_weight_fake_quant", "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant", "disable_fake_quant", "disable_observer", "enable_fake_quant",
    "enable_observer", "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]  # fmt: skip


class FakeQuantizeBase(ABC, nn.Module):
    """What all fake quantizers have: two switches, for rounding and for observing, kept in the state dict.

    >>> fake = FakeQuantize()
    >>> isinstance(fake, FakeQuantizeBase)
    True
    >>> fake.disable_fake_quant()
    >>> fake(taeda.tensor([0.123456, 255.0]))[0].item() == taeda.tensor(0.123456).item()
    True
    """

    fake_quant_enabled: Tensor
    observer_enabled: Tensor

    def __init__(self) -> None:
        super().__init__()
        for name in ("fake_quant_enabled", "observer_enabled"):
            self.register_buffer(name, taeda.tensor([1], dtype=taeda.uint8))

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """`x`, rounded where that is on."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """(scales, zero points)."""

    def enable_fake_quant(self, enabled: bool = True) -> None:
        """Round from now on, or not."""
        self.fake_quant_enabled[0] = 1 if enabled else 0

    def disable_fake_quant(self) -> None:
        """Do not round from now on."""
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        """Observe from now on, or not."""
        self.observer_enabled[0] = 1 if enabled else 0

    def disable_observer(self) -> None:
        """Keep the scale from now on."""
        self.enable_observer(False)

    @classmethod
    def with_args(cls, **kwargs: Any) -> Factory:
        """A factory: called, it makes a fake quantizer with these arguments."""
        return with_args(cls, **kwargs)


def _check_range(observer: Any, low: int, high: int, given: dict[str, Any]) -> None:
    keywords = observer.p.keywords if isinstance(observer, Factory) else {}
    dtype = given.get("dtype", keywords.get("dtype", taeda.quint8))
    least, most = INTEGERS[dtype]
    if low > high or low < least or high > most:
        raise AssertionError(
            f"a fake quantizer to {dtype} wants integers from {least} to {most}, but got {low} to {high}"
        )


class FakeQuantize(FakeQuantizeBase):
    """An observer, and the rounding that it suggests.

    Args:
        observer: a class of observers, or a factory of one.
        quant_min, quant_max: the integers that are used, if not all of the dtype (default:
            None).
        is_dynamic: whether the scale is that of each input (default: False).
        observer_kwargs: arguments of the observer.

    `forward(x)` has the shape and dtype of `x`; the gradient passes where nothing was clamped.
    AssertionError for integers that the dtype does not hold.

    >>> fake = taeda.ao.quantization.FakeQuantize()
    >>> y = fake(taeda.tensor([0.0, 1.0, 2.55]))
    >>> bool((y - taeda.tensor([0.0, 1.0, 2.55])).abs().max() < 0.02)
    True
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            _check_range(observer, quant_min, quant_max, observer_kwargs)
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        observer_kwargs["is_dynamic"] = is_dynamic
        watch = self.activation_post_process = observer(**observer_kwargs)
        self.quant_min, self.quant_max = watch.quant_min, watch.quant_max
        self.is_dynamic, self.dtype, self.qscheme = watch.is_dynamic, watch.dtype, watch.qscheme
        self.ch_axis = getattr(watch, "ch_axis", -1)
        self.is_per_channel = is_per_channel(self.qscheme)
        floats = is_float_qparams(self.qscheme)
        self.register_buffer("scale", taeda.tensor([1.0]))
        kind = taeda.float32 if floats else taeda.int32
        self.register_buffer("zero_point", taeda.tensor([0], dtype=kind))

    def calculate_qparams(self, **kwargs: Any) -> Any:
        """(scales, zero points) that the observer suggests."""
        return self.activation_post_process.calculate_qparams()

    def has_seen(self) -> bool:
        """Whether there is something to compute scales of."""
        seen: bool = self.activation_post_process.has_seen()
        return seen

    def _observe(self, x: Tensor) -> None:
        self.activation_post_process(x.detach())
        for buffer, made in zip(
            (self.scale, self.zero_point), self.calculate_qparams(), strict=True
        ):
            if buffer.shape != made.shape:
                buffer.resize_(made.shape)
            buffer.copy_(made)

    def forward(self, X: Tensor) -> Tensor:
        """Look at `X` if that is on, and round it if that is on."""
        if self.observer_enabled[0] == 1:
            self._observe(X)
        if self.fake_quant_enabled[0] != 1:
            return X
        watch = self.activation_post_process
        ends = watch.quant_min, watch.quant_max
        if self.is_per_channel:
            return taeda.fake_quantize_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, *ends
            )
        return taeda.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, *ends)

    def extra_repr(self) -> str:
        watch = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"quant_min={watch.quant_min}, quant_max={watch.quant_max}, dtype={self.dtype}, "
            f"qscheme={self.qscheme}, ch_axis={self.ch_axis}, scale={self.scale}, "
            f"zero_point={self.zero_point}"
        )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("scale", "zero_point"):
            if (found := state_dict.get(prefix + name)) is not None:
                getattr(self, name).resize_(found.shape)  # one until channels were seen
        super()._load_from_state_dict(state_dict, prefix, *rest)


class FixedQParamsFakeQuantize(FakeQuantize):
    """Rounding with a scale that is known beforehand.

    Args:
        observer: a factory of `FixedQParamsObserver`.

    AssertionError for another observer.

    >>> fake = FixedQParamsFakeQuantize(default_fixed_qparams_range_0to1_observer)
    >>> fake(taeda.tensor([0.3, 7.0])).tolist()
    [0.30078125, 0.99609375]
    """

    def __init__(self, observer: Any) -> None:
        super().__init__(observer=observer)
        watch = self.activation_post_process
        if type(watch) is not FixedQParamsObserver:
            raise AssertionError(
                f"FixedQParamsFakeQuantize wants a FixedQParamsObserver, but got {type(watch).__name__}"
            )
        self._observer_ctr = observer
        self.scale, self.zero_point = watch.scale, watch.zero_point

    def calculate_qparams(self, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The scale and zero point that were given."""
        return self.scale, self.zero_point

    def extra_repr(self) -> str:
        """What is on, the scale and zero point, the integers and the scheme."""
        watch = self.activation_post_process
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, observer_enabled={self.observer_enabled}, "
            f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}, "
            f"quant_min={watch.quant_min}, quant_max={watch.quant_max}, qscheme={self.qscheme}"
        )


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    """A moving average of ranges and the rounding in one operation, `fused_moving_avg_obs_fake_quant`.

    Args:
        observer: a class of observers of moving averages, or what makes one.
        quant_min, quant_max: the least and the greatest integer (defaults: quant_min 0,
            quant_max 255).
        **observer_kwargs: for `observer`.

    AssertionError for an observer that is no moving average.

    >>> fake = FusedMovingAvgObsFakeQuantize(dtype=taeda.quint8)
    >>> fake(taeda.tensor([0.0, 1.2, 255.0])).tolist()
    [0.0, 1.0, 255.0]
    >>> fake.scale.tolist()
    [1.0]
    """

    def __init__(
        self,
        observer: Any = MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        averages = (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)
        if not isinstance(self.activation_post_process, averages):
            raise AssertionError(
                "FusedMovingAvgObsFakeQuantize wants an observer of moving averages, but got "
                f"{type(self.activation_post_process).__name__}"
            )
        for name in ("fake_quant_enabled", "observer_enabled"):
            self.register_buffer(name, taeda.tensor([1], dtype=taeda.int64))
        self.is_symmetric_quant = is_symmetric(self.activation_post_process.qscheme)

    def forward(self, X: Tensor) -> Tensor:
        """Look at `X` if that is on, and round it if that is on."""
        watch = self.activation_post_process
        made: Tensor = taeda.fused_moving_avg_obs_fake_quant(
            X,
            self.observer_enabled,
            self.fake_quant_enabled,
            watch.min_val,
            watch.max_val,
            self.scale,
            self.zero_point,
            watch.averaging_constant,
            watch.quant_min,
            watch.quant_max,
            self.ch_axis,
            self.is_per_channel,
            self.is_symmetric_quant,
        )
        return made


# ---- fake quantizers with arguments ----

_SYMMETRIC = {"dtype": taeda.qint8, "qscheme": taeda.per_tensor_symmetric}
_CHANNELS = {"dtype": taeda.qint8, "qscheme": taeda.per_channel_symmetric}
_EMBEDDING = {
    "qscheme": taeda.per_channel_affine_float_qparams,
    "ch_axis": 0,
    "averaging_constant": 1,
}

default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=0,
    quant_max=255,
    dtype=taeda.quint8,
    qscheme=taeda.per_tensor_affine,
    reduce_range=True,
)
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    reduce_range=False,
    **_SYMMETRIC,
)
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=0,
    quant_max=255,
    is_dynamic=True,
    dtype=taeda.quint8,
    averaging_constant=1,
)
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    reduce_range=False,
    ch_axis=0,
    **_CHANNELS,
)
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    dtype=taeda.quint8,
    quant_min=0,
    quant_max=255,
    **_EMBEDDING,
)
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, dtype=taeda.quint4x2, **_EMBEDDING
)
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver,
    quant_min=0,
    quant_max=255,
    dtype=taeda.quint8,
    qscheme=taeda.per_tensor_affine,
    reduce_range=True,
)
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=taeda.quint8
)
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=-128, quant_max=127, **_SYMMETRIC
)
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, quant_min=-128, quant_max=127, **_CHANNELS
)
fused_wt_fake_quant_range_neg_127_to_127 = default_fused_wt_fake_quant.with_args(
    quant_min=-127, quant_max=127, eps=2**-12
)
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = (
    default_fused_per_channel_wt_fake_quant.with_args(quant_min=-127, quant_max=127, eps=2**-12)
)


# ---- for `model.apply` ----


def _switch(name: str, what: str) -> Any:
    def switch(mod: nn.Module) -> None:
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, name)()

    switch.__name__ = switch.__qualname__ = name
    switch.__doc__ = (
        f"{what} in a module if it is a fake quantizer: `model.apply({name})` does so in all.\n\n"
        "    Args:\n        mod: any module\n\n"
        "    >>> from taeda.ao.quantization import FakeQuantize\n"
        f"    >>> model = taeda.nn.Sequential(FakeQuantize()).apply({name})\n"
        f"    >>> model[0].{name.split('_', 1)[1]}_enabled.item()\n"
        f"    {int(name.startswith('enable'))}\n    "
    )
    return switch


disable_fake_quant = _switch("disable_fake_quant", "Stop rounding")
enable_fake_quant = _switch("enable_fake_quant", "Round")
disable_observer = _switch("disable_observer", "Stop observing")
enable_observer = _switch("enable_observer", "Observe")
