"""What observers have in common: a dtype, its range of integers, scales from the ends of what was seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import warn

from ._granularity import Granularity, MappingType, ZeroPointDomain
from ._ranges import checked, parameters
from ._words import Factory, range_of, with_args

__all__ = ["AffineQuantizedObserverBase", "ObserverBase", "UniformQuantizationObserverBase"]

_EPS = taeda.finfo(taeda.float32).eps


class ObserverBase(ABC, nn.Module):
    """What all observers have: a dtype, and whether scales are computed again for each input.

    Args:
        dtype: of the tensors that the observed numbers will become.
        is_dynamic: whether the scale will be that of each input; nothing is kept then (default:
            False).

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
        reduce_range: whether one bit is left out, as kernels want whose sums have 16 bits
            (default: False).
        quant_min, quant_max: the integers that are used, if not all of the dtype (default:
            None).
        factory_kwargs: device and dtype of the buffers (default: None).
        eps: the least scale (default: 1.1920928955078125e-07, that of float32).
        is_dynamic: as in `ObserverBase` (default: False).

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


class AffineQuantizedObserverBase(ABC, nn.Module):
    """The frame of observers of other libraries, whose numbers share scales in any way.

    Args:
        mapping_type: how floats are mapped to integers.
        target_dtype: the dtype of the integers.
        granularity: which numbers share a scale.
        quant_min, quant_max: the integers that are used (default: None).
        eps: the least scale (default: None).
        scale_dtype, zero_point_dtype: those of the results (default: None).
        preserve_zero: whether 0 is kept exactly (default: True).
        zero_point_domain: what a zero point is (default: ZeroPointDomain.INT).

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
