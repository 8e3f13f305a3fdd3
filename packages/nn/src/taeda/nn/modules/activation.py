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

    def _taeda_options(self, *shown: str) -> str:
        """The options of a text, with `inplace` where it is set."""
        return ", ".join([*shown, "inplace=True"] if self.inplace else shown)


# ---- piecewise linear ----


class ReLU(_Switchable):
    """max(x, 0).

    Args:
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.relu`.

    >>> ReLU()(taeda.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _relu_(input) if self.inplace else _relu(input)


class Threshold(_Switchable):
    """x where x > threshold, else `value`.

    Args:
        threshold: values above it stay as they are.
        value: what takes the place of the others.
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.threshold`.

    >>> Threshold(0.1, 20.0)(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([20., 20., 20.,  2.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self._taeda_options(f"threshold={self.threshold}", f"value={self.value}")


class Hardtanh(_Switchable):
    """x held within [min_val, max_val]. Raises ValueError unless min_val is the smaller.

    Args:
        min_val: least value of the result (-1).
        max_val: greatest value of the result (1), above `min_val`.
        inplace: whether the result overwrites the input (False).
        min_value: older name of `min_val`, deprecated (None: not given).
        max_value: older name of `max_val`, deprecated (None: not given).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.hardtanh`.

    >>> Hardtanh()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-1.0000, -0.5000,  0.0000,  1.0000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        self.min_val = self._taeda_former("min_value", min_value, "min_val", min_val)
        self.max_val = self._taeda_former("max_value", max_value, "max_val", max_val)
        if self.max_val <= self.min_val:
            raise ValueError(
                f"max_val must be larger than min_val, got min_val={self.min_val} and max_val={self.max_val}"
            )

    @staticmethod
    def _taeda_former(old: str, given: float | None, name: str, value: float) -> float:
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
        return self._taeda_options(f"min_val={self.min_val}", f"max_val={self.max_val}")


class ReLU6(Hardtanh):
    """x held within [0, 6].

    Args:
        inplace: whether the result overwrites the input (False).

    Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10 (2010).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.relu6`.

    >>> ReLU6()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([0., 0., 0., 2.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return self._taeda_options()


class LeakyReLU(_Switchable):
    """x, times `negative_slope` where x is negative.

    Args:
        negative_slope: factor of negative elements (0.01).
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.leaky_relu`.

    >>> LeakyReLU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.0400, -0.0050,  0.0000,  2.0000])
    """

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self._taeda_options(f"negative_slope={self.negative_slope}")


class RReLU(_Switchable):
    """x, times a slope where x is negative: random in [lower, upper) in training, else their mean.

    Args:
        lower: least slope (1/8).
        upper: upper end of the slopes (1/3), at least `lower`.
        inplace: whether the result overwrites the input (False).

    Xu and others (arXiv:1505.00853).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.rrelu`.

    >>> RReLU().eval()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.9167, -0.1146,  0.0000,  2.0000])
    """

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
        return self._taeda_options(f"lower={self.lower}", f"upper={self.upper}")


class PReLU(Module):
    """x, times a slope where x is negative; the slope, one or one for each channel, is a parameter.

    Args:
        num_parameters: number of slopes: 1 for all elements, or the size of dimension 1, one for
            each channel (1).
        init: value that the slopes start from (0.25).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input and output: (*); with several slopes (N, C, *), where C is `num_parameters`.
        weight: (num_parameters).

    He and others (arXiv:1502.01852). The same as a function: `nn.functional.prelu`.

    >>> PReLU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0])).detach()
    tensor([-1.0000, -0.1250,  0.0000,  2.0000])
    """

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
    """relu6(x + 3) / 6.

    Args:
        inplace: whether the result overwrites the input (False).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.hardsigmoid`.

    >>> Hardsigmoid()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([0.0000, 0.4167, 0.5000, 0.8333])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Hardswish(_Switchable):
    """x · relu6(x + 3) / 6.

    Args:
        inplace: whether the result overwrites the input (False).

    Howard and others (arXiv:1905.02244).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.hardswish`.

    >>> Hardswish()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.0000, -0.2083,  0.0000,  1.6667])
    """

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
    """x where |x| > lambd, else 0.

    Args:
        lambd: half the width of the interval that becomes 0 (0.5).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.hardshrink`.

    >>> Hardshrink()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-4.,  0.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """x moved towards 0 by lambd, at most to 0.

    Args:
        lambd: how far elements move towards 0 (0.5), at least 0.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.softshrink`.

    >>> Softshrink()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-3.5000, -0.0000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softshrink(input, self.lambd)


# ---- smooth ----


class Sigmoid(Module):
    """1 / (1 + exp(-x)).

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.sigmoid`.

    >>> Sigmoid()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([0.0180, 0.3775, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent.

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.tanh`.

    >>> Tanh()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.9993, -0.4621,  0.0000,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _tanh(input)


class Tanhshrink(Module):
    """x - tanh(x).

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.tanhshrink`.

    >>> Tanhshrink()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-3.0007, -0.0379,  0.0000,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.tanhshrink(input)


class Softsign(Module):
    """x / (1 + |x|).

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.softsign`.

    >>> Softsign()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.8000, -0.3333,  0.0000,  0.6667])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softsign(input)


class LogSigmoid(Module):
    """log(sigmoid(x)).

    Args:
        *args, **kwargs: none are taken; there is nothing to choose.

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.logsigmoid`.

    >>> LogSigmoid()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-4.0181, -0.9741, -0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.logsigmoid(input)


class GELU(Module):
    """x times the normal distribution function of x; approximate="tanh" takes a tanh for it.

    Args:
        approximate: "none" (default) computes the normal distribution function exactly; "tanh"
            computes x / 2 · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 x³))).

    Hendrycks and Gimpel (arXiv:1606.08415).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.gelu`.

    >>> GELU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-1.2668e-04, -1.5427e-01,  0.0000e+00,  1.9545e+00])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return _gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class SiLU(_Switchable):
    """x · sigmoid(x).

    Args:
        inplace: whether the result overwrites the input (False).

    Elfwing and others (arXiv:1702.03118); Ramachandran and others call it swish (arXiv:1710.05941).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.silu`.

    >>> SiLU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.0719, -0.1888,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.silu(input, True) if self.inplace else _silu(input)


class Mish(_Switchable):
    """x · tanh(softplus(x)).

    Args:
        inplace: whether the result overwrites the input (False).

    Misra (arXiv:1908.08681).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.mish`.

    >>> Mish()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.0726, -0.2207,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.mish(input, self.inplace)


class _Alpha(_Switchable):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def extra_repr(self) -> str:
        return self._taeda_options(f"alpha={self.alpha}")


class ELU(_Alpha):
    """x where x > 0, else alpha · (exp(x) - 1).

    Args:
        alpha: size of the value that negative elements tend to (1).
        inplace: whether the result overwrites the input (False).

    Clevert and others (arXiv:1511.07289).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.elu`.

    >>> ELU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.9817, -0.3935,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """max(x, 0) + min(0, alpha · (exp(x / alpha) - 1)).

    Args:
        alpha: size of the value that negative elements tend to (1), not 0.
        inplace: whether the result overwrites the input (False).

    Barron (arXiv:1704.07483).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.celu`.

    >>> CELU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-0.9817, -0.3935,  0.0000,  2.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Switchable):
    """elu with the scale and alpha that keep mean 0 and variance 1.

    Args:
        inplace: whether the result overwrites the input (False).

    Klambauer and others (arXiv:1706.02515).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.selu`.

    >>> SELU()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([-1.7259, -0.6918,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.selu(input, self.inplace)


class Softplus(Module):
    """log(1 + exp(beta · x)) / beta; x itself where beta · x > threshold.

    Args:
        beta: how sharp the bend at 0 is (1), not 0.
        threshold: above this value of beta · x the result is x, which avoids overflow (20).

    Shape:
        input and output: (*), any number of dimensions, of one floating-point dtype.

    The same as a function: `nn.functional.softplus`.

    >>> Softplus()(taeda.tensor([-4.0, -0.5, 0.0, 2.0]))
    tensor([0.0181, 0.4741, 0.6931, 2.1269])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Any shape, unchanged."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"
