"""Observers that compute no range: one that is known, one that is another's, a record, nothing."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn

from ._observer_bases import ObserverBase
from ._words import INTEGERS, range_of

__all__ = [
    "FixedQParamsObserver", "NoopObserver", "PlaceholderObserver", "RecordingObserver",
    "ReuseInputObserver",
]  # fmt: skip

_EPS = taeda.finfo(taeda.float32).eps


class FixedQParamsObserver(ObserverBase):
    """A scale and a zero point that are known beforehand.

    Args:
        scale, zero_point: those.
        dtype, qscheme, quant_min, quant_max, is_dynamic: as in
            `UniformQuantizationObserverBase` (defaults: quant_min 0, quant_max 255, is_dynamic
            False).

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
        custom_op_name: a name of a custom operator, for other libraries (default: "").
        compute_dtype: kept for old programs: `dtype` and `is_dynamic=True` say it (default:
            None).
        quant_min, quant_max, qscheme, eps: what will be asked of the quantization (default:
            None).
        is_dynamic: whether scales are those of each input (default: False).

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
        custom_op_name: a name of a custom operator, for other libraries (default: "").

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
