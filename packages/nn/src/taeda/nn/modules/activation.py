"""Nonlinearities as modules."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.operators import nn as _nn

from .. import functional as F
from .. import init as _init
from ..parameter import Parameter
from .attention import MultiheadAttention
from .module import Module
from .softmax import GLU, LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]

_relu, _relu_ = taeda.relu, taeda.relu_
_sigmoid, _tanh = taeda.sigmoid, taeda.tanh
_gelu, _silu = _nn.gelu, _nn.silu


class _Switchable(Module):
    """Has one option: to overwrite its input."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def _options(self, *shown: str) -> str:
        """The options of a text, with `inplace` where it is set."""
        return ", ".join([*shown, "inplace=True"] if self.inplace else shown)


# ---- piecewise linear ----


class ReLU(_Switchable):
    """max(x, 0).

    >>> ReLU()(taeda.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _relu_(input) if self.inplace else _relu(input)


class Threshold(_Switchable):
    """x where x > threshold, else `value`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._options(f"threshold={self.threshold}", f"value={self.value}")


class Hardtanh(_Switchable):
    """x held within [min_val, max_val]. Raises ValueError unless min_val is the smaller."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        self.min_val = self._former("min_value", min_value, "min_val", min_val)
        self.max_val = self._former("max_value", max_value, "max_val", max_val)
        if self.max_val <= self.min_val:
            raise ValueError(
                f"max_val must be larger than min_val, got min_val={self.min_val} and max_val={self.max_val}"
            )

    @staticmethod
    def _former(old: str, given: float | None, name: str, value: float) -> float:
        if given is None:
            return value
        warn(
            f"keyword argument `{old}` is deprecated and rename to `{name}`",
            FutureWarning,
        )
        return given

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self._options(f"min_val={self.min_val}", f"max_val={self.max_val}")


class ReLU6(Hardtanh):
    """x held within [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return self._options()


class LeakyReLU(_Switchable):
    """x, times `negative_slope` where x is negative."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._options(f"negative_slope={self.negative_slope}")


class RReLU(_Switchable):
    """x, times a slope where x is negative: random in [lower, upper) in training, else their mean."""

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self._options(f"lower={self.lower}", f"upper={self.upper}")


class PReLU(Module):
    """x, times a slope where x is negative; the slope, one or one for each channel, is a parameter."""

    weight: Tensor

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(taeda.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to their first value."""
        _init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged; channels are dimension 1."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Hardsigmoid(_Switchable):
    """relu6(x + 3) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_Switchable):
    """x · relu6(x + 3) / 6."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Shrink(Module):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, at most to 0."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softshrink(input, self.lambd)


# ---- smooth ----


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _tanh(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softsign(input)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.logsigmoid(input)


class GELU(Module):
    """x times the normal distribution function of x; approximate="tanh" takes a tanh for it."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(_Switchable):
    """x · sigmoid(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.silu(input, True) if self.inplace else _silu(input)


class Mish(_Switchable):
    """x · tanh(softplus(x))."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.mish(input, self.inplace)


class _Alpha(_Switchable):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def extra_repr(self) -> str:
        return self._options(f"alpha={self.alpha}")


class ELU(_Alpha):
    """x where x > 0, else alpha · (exp(x) - 1)."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """max(x, 0) + min(0, alpha · (exp(x / alpha) - 1))."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Switchable):
    """elu with the scale and alpha that keep mean 0 and variance 1."""

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.selu(input, self.inplace)


class Softplus(Module):
    """log(1 + exp(beta · x)) / beta; x itself where beta · x > threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"
