"""Observers: modules that look at numbers on their way, and say what scale and zero point fits them.

>>> import taeda
>>> watch = MinMaxObserver()
>>> same = watch(taeda.tensor([-1.0, 0.5, 4.0]))
>>> scale, zero_point = watch.calculate_qparams()
>>> zero_point.tolist()
[51]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import warn

from ._granularity import (
    Granularity,
    MappingType,
    PerAxis,
    PerBlock,
    PerGroup,
    PerRow,
    PerTensor,
    PerToken,
    TorchAODType,
    ZeroPointDomain,
    get_block_size,
)
from ._histograms import best_range, rescaled
from ._ranges import checked, parameters
from ._words import INTEGERS, Factory, is_per_channel, range_of, with_args

__all__ = [
    "AffineQuantizedObserverBase", "FixedQParamsObserver", "Granularity", "HistogramObserver",
    "MappingType", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerAxis", "PerBlock",
    "PerChannelMinMaxObserver", "PerGroup", "PerRow", "PerTensor", "PerToken", "PlaceholderObserver",
    "RecordingObserver", "ReuseInputObserver", "TorchAODType", "UniformQuantizationObserverBase",
    "ZeroPointDomain", "default_affine_fixed_qparams_observer", "default_debug_observer",
    "default_dynamic_quant_observer", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer", "default_float_qparams_observer",
    "default_float_qparams_observer_4bit", "default_histogram_observer", "default_observer",
    "default_per_channel_weight_observer", "default_placeholder_observer",
    "default_reuse_input_observer", "default_symmetric_fixed_qparams_observer",
    "default_weight_observer", "get_block_size", "get_observer_state_dict",
    "load_observer_state_dict", "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]  # fmt: skip

_EPS = taeda.finfo(taeda.float32).eps


class ObserverBase(ABC, nn.Module):
    """What all observers have: a dtype, and whether scales are computed again for each input.

    Args:
        dtype: of the tensors that the observed numbers will become.
        is_dynamic: whether the scale will be that of each input; nothing is kept then.

    `forward(x)` looks at `x` and returns it; `calculate_qparams()` gives (scales, zero points).

    >>> class Widest(ObserverBase):
    ...     seen = taeda.tensor(0.0)
    ...     def forward(self, x):
    ...         self.seen = taeda.maximum(self.seen, x.abs().max())
    ...         return x
    ...     def calculate_qparams(self):
    ...         return self.seen / 127, taeda.tensor(0)
    >>> watch = Widest(taeda.qint8)
    >>> _ = watch(taeda.tensor([1.0, -254.0]))
    >>> watch.calculate_qparams()
    (tensor(2.), tensor(0))
    """

    def __init__(self, dtype: Any, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Look at `x` and return it."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: Any) -> Any:
        """(scales, zero points) for what was seen."""

    @classmethod
    def with_args(cls, **kwargs: Any) -> Factory:
        """A factory: called, it makes an observer with these arguments."""
        return with_args(cls, **kwargs)

    @classmethod
    def with_callable_args(cls, **kwargs: Any) -> Factory:
        """A factory whose arguments are made by a call of theirs when an observer is made."""
        return with_args(cls).with_callable_args(**kwargs)

    def has_seen(self) -> bool:
        """Whether there is something to compute scales of."""
        return True


class UniformQuantizationObserverBase(ObserverBase):
    """What observers with equal steps have.

    Args:
        dtype: `quint8`, `qint8`, `qint32`, `quint4x2`, or the plain dtype of such integers.
        qscheme: `per_tensor_affine`, `per_tensor_symmetric`, and those of channels.
        reduce_range: whether one bit is left out, as kernels want whose sums have 16 bits.
        quant_min, quant_max: the integers that are used, if not all of the dtype.
        factory_kwargs: device and dtype of the buffers.
        eps: the least scale.
        is_dynamic: as in `ObserverBase`.

    NotImplementedError for an unknown scheme, ValueError for a dtype without integers, AssertionError for a
    range without 0.

    >>> watch = MinMaxObserver(dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric)
    >>> isinstance(watch, UniformQuantizationObserverBase)
    True
    >>> watch.quant_min, watch.quant_max
    (-128, 127)
    """

    eps: Tensor
    min_val: Tensor
    max_val: Tensor

    def __init__(
        self,
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
        super().__init__(dtype, is_dynamic, **kwargs)
        if not isinstance(qscheme, taeda.qscheme):
            raise NotImplementedError(f"wanted a qscheme such as per_tensor_affine, got {qscheme}")
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self._made_with = dict(factory_kwargs or {})
        self.register_buffer("eps", taeda.tensor([eps], **self._made_with))
        self.quant_min, self.quant_max = range_of(dtype, reduce_range, quant_min, quant_max)
        self.has_customized_qrange = quant_min is not None and quant_max is not None

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        if not checked(min_val, max_val, type(self).__name__):
            warn(
                f"{type(self).__name__} has seen nothing: scale 1 and zero point 0 are a guess. Run "
                "the model on examples first"
            )
            return taeda.tensor([1.0], device=min_val.device), taeda.tensor(
                [0], device=min_val.device
            )
        return parameters(
            min_val,
            max_val,
            self.quant_min,
            self.quant_max,
            self.qscheme,
            self.dtype,
            self.eps,
            self.has_customized_qrange,
        )

    def has_seen(self) -> bool:
        return bool(self.min_val.numel()) and not bool((self.min_val == float("inf")).any())

    def calculate_qparams(self, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """(scales in float32, zero points) of the range that was seen. RuntimeError for NaN."""
        return self._calculate_qparams(self.min_val, self.max_val)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        raise NotImplementedError(f"{type(self).__name__} has nothing to reset")

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("min_val", "max_val", "histogram"):
            if (found := state_dict.get(prefix + name)) is not None and hasattr(self, name):
                getattr(self, name).resize_(found.shape)  # empty until something was seen
        super()._load_from_state_dict(state_dict, prefix, *rest)


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
        averaging_constant: the share.
        dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as in `MinMaxObserver`.

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
        ch_axis: the dimension whose places are the channels.
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as in
            `UniformQuantizationObserverBase`, with a scheme for channels.

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
        averaging_constant: the share.
        ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic: as in
            `PerChannelMinMaxObserver`.

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
        bins: of the histogram.
        dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic: as in
            `MinMaxObserver`.

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


class FixedQParamsObserver(ObserverBase):
    """A scale and a zero point that are known beforehand.

    Args:
        scale, zero_point: those.
        dtype, qscheme, quant_min, quant_max, is_dynamic: as in `UniformQuantizationObserverBase`.

    >>> observer = taeda.ao.quantization.FixedQParamsObserver(scale=0.5, zero_point=3)
    >>> observer.calculate_qparams()
    (tensor([0.5000]), tensor([3], dtype=taeda.int32))
    """

    scale: Tensor
    zero_point: Tensor

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Any = taeda.quint8,
        qscheme: Any = taeda.per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if is_dynamic:
            raise NotImplementedError("FixedQParamsObserver cannot be dynamic: its scale is fixed")
        super().__init__(dtype, is_dynamic, **kwargs)
        self.qscheme, self.quant_min, self.quant_max = qscheme, quant_min, quant_max
        self.register_buffer("scale", taeda.tensor([scale], dtype=taeda.float32))
        self.register_buffer("zero_point", taeda.tensor([zero_point], dtype=taeda.int32))

    def forward(self, X: Tensor) -> Tensor:
        """`X` as it is."""
        return X

    def calculate_qparams(self, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """The scale and zero point that were given."""
        return self.scale, self.zero_point


class PlaceholderObserver(ObserverBase):
    """No observer: it stands for a dtype, such as that of computing with scales of each input.

    Args:
        dtype: of the tensor that will be computed with.
        custom_op_name: a name of a custom operator, for other libraries.
        compute_dtype: kept for old programs: `dtype` and `is_dynamic=True` say it.
        quant_min, quant_max, qscheme, eps: what will be asked of the quantization.
        is_dynamic: whether scales are those of each input.

    >>> observer = taeda.ao.quantization.PlaceholderObserver(dtype=taeda.float16)
    >>> observer.dtype
    taeda.float16
    """

    def __init__(
        self,
        dtype: Any = taeda.float32,
        custom_op_name: str = "",
        compute_dtype: Any = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: Any = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic or compute_dtype is not None)
        if compute_dtype is not None:
            warn("PlaceholderObserver: compute_dtype is old: use dtype and is_dynamic=True")
        self.qscheme = taeda.per_tensor_affine if qscheme is None else qscheme
        self.quant_min, self.quant_max = quant_min, quant_max
        self.eps, self.custom_op = eps, custom_op_name
        if self.is_dynamic and self.dtype in INTEGERS:
            self.quant_min, self.quant_max = range_of(dtype, False, quant_min, quant_max)

    def forward(self, x: Tensor) -> Tensor:
        """`x` as it is."""
        return x

    def calculate_qparams(self, **kwargs: Any) -> Any:
        raise RuntimeError(
            "a PlaceholderObserver sees nothing, so it has no scale: use another observer where scales are "
            "wanted"
        )

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"


class RecordingObserver(ObserverBase):
    """Keeps every tensor that it sees, for who looks for errors.

    Args:
        dtype: as in `ObserverBase`.

    >>> observer = taeda.ao.quantization.RecordingObserver()
    >>> _ = observer(taeda.tensor([1.0])), observer(taeda.tensor([2.0]))
    >>> observer.get_tensor_value()
    [tensor([1.]), tensor([2.])]
    """

    def __init__(self, dtype: Any = taeda.quint8) -> None:
        super().__init__(dtype=dtype)
        self.tensor_val: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """Keep a copy of `x`, and return it."""
        self.tensor_val.append(x.clone())
        return x

    def calculate_qparams(self, **kwargs: Any) -> Any:
        raise RuntimeError("a RecordingObserver keeps tensors and computes no scale of them")

    def get_tensor_value(self) -> list[Tensor]:
        """All tensors, in their order."""
        return self.tensor_val


class NoopObserver(ObserverBase):
    """No observer: it stands for a dtype, such as float16.

    Args:
        dtype: of the tensor that will be computed with.
        custom_op_name: a name of a custom operator, for other libraries.

    >>> taeda.ao.quantization.NoopObserver()(taeda.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, dtype: Any = taeda.float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """`x` as it is."""
        return x

    def calculate_qparams(self, **kwargs: Any) -> Any:
        raise RuntimeError("a NoopObserver sees nothing, so it has no scale")


class ReuseInputObserver(ObserverBase):
    """Stands for: the result has the scale of the input. Such an operation copies integers alone.

    >>> watch = ReuseInputObserver()
    >>> watch(taeda.tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """

    def __init__(self) -> None:
        super().__init__(taeda.quint8, is_dynamic=False)

    def forward(self, x: Tensor) -> Tensor:
        """`x` as it is."""
        return x

    def calculate_qparams(self, **kwargs: Any) -> Any:
        raise RuntimeError("a ReuseInputObserver has no scale of its own: ask the input")


class AffineQuantizedObserverBase(ABC, nn.Module):
    """The frame of observers of other libraries, whose numbers share scales in any way.

    Args:
        mapping_type: how floats are mapped to integers.
        target_dtype: the dtype of the integers.
        granularity: which numbers share a scale.
        quant_min, quant_max: the integers that are used.
        eps: the least scale.
        scale_dtype, zero_point_dtype: those of the results.
        preserve_zero: whether 0 is kept exactly.
        zero_point_domain: what a zero point is.

    A subclass defines `forward` and `calculate_qparams`. ValueError if `zero_point_domain` is None.

    >>> class Largest(AffineQuantizedObserverBase):
    ...     def forward(self, input):
    ...         self.block = get_block_size(input.shape, self.granularity)
    ...         self.most = input.abs().amax(-1)
    ...         return input
    ...     def calculate_qparams(self):
    ...         return self.most / self.quant_max, taeda.zeros_like(self.most)
    >>> watch = Largest(MappingType.SYMMETRIC, taeda.int8, PerRow(), -8, 8)
    >>> _ = watch(taeda.tensor([[1.0, -4.0], [16.0, 2.0]]))
    >>> watch.block, watch.calculate_qparams()[0].tolist()
    ((1, 2), [0.5, 2.0])
    """

    def __init__(
        self,
        mapping_type: MappingType,
        target_dtype: Any,
        granularity: Granularity,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float | None = None,
        scale_dtype: Any = None,
        zero_point_dtype: Any = None,
        preserve_zero: bool = True,
        zero_point_domain: ZeroPointDomain | None = ZeroPointDomain.INT,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if granularity is None:
            raise AssertionError("granularity is None: say which numbers share a scale")
        if zero_point_domain is None:
            raise ValueError("zero_point_domain is None: wanted a ZeroPointDomain, perhaps NONE")
        self.mapping_type, self.target_dtype, self.granularity = (
            mapping_type,
            target_dtype,
            granularity,
        )
        self.quant_min, self.quant_max, self.eps = quant_min, quant_max, eps
        self.scale_dtype, self.zero_point_dtype = scale_dtype, zero_point_dtype
        self.preserve_zero, self.zero_point_domain = preserve_zero, zero_point_domain

    @classmethod
    def with_args(cls, **kwargs: Any) -> Factory:
        """A factory: called, it makes an observer with these arguments."""
        return with_args(cls, **kwargs)

    @abstractmethod
    def forward(self, input: Tensor) -> Tensor:
        """Look at `input` and return it."""

    @abstractmethod
    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        """(scales, zero points) for what was seen."""


# ---- observers with arguments ----

default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric
)
weight_observer_range_neg_127_to_127 = default_weight_observer.with_args(
    quant_min=-127, quant_max=127, eps=2**-12
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127 = default_per_channel_weight_observer.with_args(
    quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=taeda.quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.quint8, qscheme=taeda.per_channel_affine_float_qparams, ch_axis=0
)
default_float_qparams_observer_4bit = default_float_qparams_observer.with_args(dtype=taeda.quint4x2)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver


# ---- what observers have seen, apart from the model ----


def get_observer_state_dict(mod: nn.Module) -> OrderedDict[str, Any]:
    """The entries of a module's state dict that belong to observers: what they have seen.

    Args:
        mod: a prepared model.

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready = taeda.ao.quantization.prepare(model)
    >>> _ = ready(taeda.tensor([[-1.0, 3.0]]))
    >>> found = get_observer_state_dict(ready)
    >>> found["quant.activation_post_process.max_val"]
    tensor(3.)
    """
    words = ("observer", "activation_post_process")
    entries = mod.state_dict().items()
    return OrderedDict((k, v) for k, v in entries if any(word in k for word in words))


def load_observer_state_dict(mod: nn.Module, obs_dict: dict[str, Any]) -> None:
    """Let the observers of a prepared model have seen what others saw.

    Args:
        mod: a prepared model.
        obs_dict: what `get_observer_state_dict` gave.

    RuntimeError for entries that are missing or belong to no observer.

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready, other = (taeda.ao.quantization.prepare(model) for _ in range(2))
    >>> _ = ready(taeda.tensor([[-1.0, 3.0]]))
    >>> load_observer_state_dict(other, get_observer_state_dict(ready))
    >>> other.quant.activation_post_process.max_val
    tensor(3.)
    """
    wanted = set(get_observer_state_dict(mod))
    missing, unknown = sorted(wanted - set(obs_dict)), sorted(set(obs_dict) - wanted)
    if missing or unknown:
        raise RuntimeError(
            f"the entries do not fit the observers: missing {missing}, of no observer {unknown}"
        )
    mod.load_state_dict(obs_dict, strict=False)
