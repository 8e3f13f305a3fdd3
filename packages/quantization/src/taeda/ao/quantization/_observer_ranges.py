"""Observers of ranges: the ends of all that was seen, their moving means, or the best cut of a histogram."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

from ._histograms import best_range, rescaled
from ._observer_bases import UniformQuantizationObserverBase
from ._words import INTEGERS, is_per_channel

__all__ = [
    "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "PerChannelMinMaxObserver",
]  # fmt: skip

_EPS = taeda.finfo(taeda.float32).eps


def _put(buffer: Tensor, value: Tensor) -> None:
    if buffer.shape != value.shape:
        buffer.resize_(value.shape)
    buffer.copy_(value)


class MinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number of all that it has seen. The arguments are those of
    `UniformQuantizationObserverBase`, with a scheme for whole tensors. NotImplementedError for channels.

    >>> import taeda
    >>> watch = MinMaxObserver(dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric)
    >>> _ = watch(taeda.tensor([-12.75, 3.0]))
    >>> [round(x.item(), 4) for x in watch.calculate_qparams()]
    [0.1, 0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if is_per_channel(self.qscheme):
            raise NotImplementedError(
                f"{type(self).__name__} knows one range for all numbers, but got {self.qscheme}: use "
                "PerChannelMinMaxObserver"
            )
        if (
            self.qscheme is taeda.per_tensor_symmetric
            and self.reduce_range
            and self.dtype is taeda.quint8
        ):
            raise NotImplementedError("cannot reduce the range of symmetric quantization to quint8")
        for name, end in (("min_val", "inf"), ("max_val", "-inf")):
            self.register_buffer(name, taeda.tensor(float(end), **self._made_with))

    def forward(self, x_orig: Tensor) -> Tensor:
        """Widen the range by that of `x_orig`, and return it."""
        if x_orig.numel():
            least, most = x_orig.detach().to(self.min_val.dtype).aminmax()
            _put(self.min_val, taeda.minimum(least, self.min_val))
            _put(self.max_val, taeda.maximum(most, self.max_val))
        return x_orig

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        _put(self.min_val, taeda.tensor(float("inf")))
        _put(self.max_val, taeda.tensor(float("-inf")))


class MovingAverageMinMaxObserver(MinMaxObserver):
    """A range that follows those of the inputs: each moves it by a share.

    Args:
        averaging_constant: the share (default: 0.01).
        dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as in
            `MinMaxObserver` (defaults: reduce_range False, quant_min None, quant_max None, eps
            1.1920928955078125e-07, is_dynamic False).

    NotImplementedError for channels.

    >>> observer = taeda.ao.quantization.MovingAverageMinMaxObserver(averaging_constant=0.5)
    >>> _ = observer(taeda.tensor([0.0, 1.0])), observer(taeda.tensor([0.0, 3.0]))
    >>> observer.max_val
    tensor(2.)
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                "a dynamic observer keeps nothing: averaging_constant must be 1, but got "
                f"{averaging_constant}"
            )
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        """Move the range towards that of `x_orig`, and return it."""
        if x_orig.numel():
            least, most = x_orig.detach().to(self.min_val.dtype).aminmax()
            if not self.has_seen():
                _put(self.min_val, least)
                _put(self.max_val, most)
            else:
                _put(self.min_val, self.min_val + self.averaging_constant * (least - self.min_val))
                _put(self.max_val, self.max_val + self.averaging_constant * (most - self.max_val))
        return x_orig


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    """The least and the greatest number of each channel.

    Args:
        ch_axis: the dimension whose places are the channels (default: 0).
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as
            in `UniformQuantizationObserverBase`, with a scheme for channels (defaults:
            reduce_range False, quant_min None, quant_max None, factory_kwargs None, eps
            1.1920928955078125e-07, is_dynamic False).

    NotImplementedError for a dynamic one and for a scheme of whole tensors.

    >>> observer = taeda.ao.quantization.PerChannelMinMaxObserver(ch_axis=0)
    >>> _ = observer(taeda.tensor([[0.0, 1.0], [0.0, 10.0]]))
    >>> observer.max_val
    tensor([ 1., 10.])
    """

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if not is_per_channel(qscheme):
            raise NotImplementedError(
                f"an observer of channels wants a scheme of channels, not {qscheme}"
            )
        if is_dynamic:
            raise NotImplementedError("an observer of channels cannot be dynamic")
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        if qscheme is taeda.per_channel_symmetric and reduce_range and dtype is taeda.quint8:
            raise NotImplementedError("cannot reduce the range of symmetric quantization to quint8")
        self.ch_axis = ch_axis
        for name in ("min_val", "max_val"):
            self.register_buffer(name, taeda.tensor([], **self._made_with))

    def _ends_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        rows = x.detach().to(self.min_val.dtype).transpose(0, self.ch_axis).flatten(1)
        return rows.amin(1), rows.amax(1)

    def forward(self, x_orig: Tensor) -> Tensor:
        """Widen the range of each channel by what `x_orig` has there, and return it."""
        if x_orig.numel():
            least, most = self._ends_of(x_orig)
            if self.min_val.numel():
                least, most = taeda.minimum(least, self.min_val), taeda.maximum(most, self.max_val)
            _put(self.min_val, least)
            _put(self.max_val, most)
        return x_orig

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        _put(self.min_val, taeda.empty(0))
        _put(self.max_val, taeda.empty(0))


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """Ranges of channels that follow those of the inputs: each moves them by a share.

    Args:
        averaging_constant: the share (default: 0.01).
        ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as in
            `PerChannelMinMaxObserver` (defaults: ch_axis 0, reduce_range False, quant_min None,
            quant_max None, eps 1.1920928955078125e-07, is_dynamic False).

    NotImplementedError as there.

    >>> observer = taeda.ao.quantization.MovingAveragePerChannelMinMaxObserver(0.5)
    >>> _ = observer(taeda.tensor([[0.0, 1.0], [0.0, 10.0]]))
    >>> observer.max_val
    tensor([ 1., 10.])
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        ch_axis: int = 0,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        """Move the range of each channel towards what `x_orig` has there, and return it."""
        if x_orig.numel():
            least, most = self._ends_of(x_orig)
            if self.min_val.numel():
                least = self.min_val + self.averaging_constant * (least - self.min_val)
                most = self.max_val + self.averaging_constant * (most - self.max_val)
            _put(self.min_val, least)
            _put(self.max_val, most)
        return x_orig


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of all numbers, and the range of it that loses least when quantized.

    Args:
        bins: of the histogram (default: 2048).
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as
            in `MinMaxObserver` (defaults: reduce_range False, quant_min None, quant_max None,
            factory_kwargs None, eps 1.1920928955078125e-07, is_dynamic False).

    NotImplementedError for channels and a dynamic one.

    >>> observer = taeda.ao.quantization.HistogramObserver(bins=64)
    >>> _ = observer(taeda.linspace(0.0, 1.0, 100))
    >>> scale, zero = observer.calculate_qparams()
    >>> bool((scale * 255 - 1).abs() < 0.1), zero
    (True, tensor([0], dtype=taeda.int32))
    """

    histogram: Tensor

    def __init__(
        self,
        bins: int = 2048,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = _EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_per_channel(qscheme):
            raise NotImplementedError(f"HistogramObserver has one histogram, but got {qscheme}")
        if is_dynamic:
            raise NotImplementedError("HistogramObserver cannot be dynamic")
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.bins = bins
        self.register_buffer("histogram", taeda.zeros(bins, **self._made_with))
        for name, end in (("min_val", "inf"), ("max_val", "-inf")):
            self.register_buffer(name, taeda.tensor(float(end), **self._made_with))
        low, high = INTEGERS[dtype]
        self.dst_nbins = high - low + 1

    def forward(self, x_orig: Tensor) -> Tensor:
        """Count the numbers of `x_orig`, infinite ones aside, and return it. RuntimeError for NaN."""
        x = x_orig.detach()
        if not x.numel():
            return x_orig
        least, most = x.aminmax()
        if bool(least.isnan()):
            raise RuntimeError(
                "HistogramObserver: NaN among the numbers, which have no histogram then"
            )
        if bool(least.isinf()) or bool(most.isinf()):
            warn("HistogramObserver leaves infinite numbers out")
            x = x[x.isfinite()]
            if not x.numel():
                return x_orig
            least, most = x.aminmax()
        self._count(x, least, most)
        return x_orig

    def _count(self, x: Tensor, least: Tensor, most: Tensor) -> None:
        if self.has_seen():
            old = self.min_val.clone(), self.max_val.clone()
            new = taeda.minimum(old[0], least), taeda.maximum(old[1], most)
            counts = taeda.histc(x, self.bins, min=new[0].item(), max=new[1].item())
            kept = self.histogram
            if not (taeda.equal(new[0], old[0]) and taeda.equal(new[1], old[1])):
                kept = rescaled(kept, old, new)
            counts, (least, most) = counts + kept, new
        else:
            counts = taeda.histc(x, self.bins, min=least.item(), max=most.item())
        _put(self.histogram, counts)
        _put(self.min_val, least)
        _put(self.max_val, most)

    def calculate_qparams(self, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """(scale in float32, zero point) of the range that loses least."""
        if not self.has_seen():
            return self._calculate_qparams(self.min_val, self.max_val)
        ends = best_range(self.histogram, self.min_val, self.max_val, self.dst_nbins)
        return self._calculate_qparams(*ends)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        self.histogram.zero_()
        _put(self.min_val, taeda.tensor(float("inf")))
        _put(self.max_val, taeda.tensor(float("-inf")))
