"""Nonlinearities: elementwise ones, and those that look along a dimension."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.doors import call_others, exact, is_for_others, tail, watched
from taeda._core_api.operators import nn as _nn

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]


celu_ = taeda.celu_
elu_ = _nn.elu_
gelu = _nn.gelu
hardshrink = taeda.hardshrink
hardtanh_ = _nn.hardtanh_
leaky_relu_ = _nn.leaky_relu_
logsigmoid = _nn.log_sigmoid
prelu = taeda.prelu
relu_ = taeda.relu_
rrelu_ = taeda.rrelu_
selu_ = taeda.selu_
softplus = _nn.softplus
softshrink = _nn.softshrink
threshold_ = taeda.threshold_


# ---- piecewise linear ----


@tail
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else `value`.

    Args:
        input: a tensor of any shape
        threshold: the bound up to which elements are replaced by value
        value: what stands in place of elements up to threshold
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.threshold(taeda.tensor([0.05, 0.2]), 0.1, -1.0)
    tensor([-1.0000,  0.2000])
    """
    run = taeda.threshold_ if inplace else taeda.threshold
    return run(input, threshold, value)


@tail
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0).

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.relu(taeda.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    return taeda.relu_(input) if inplace else taeda.relu(input)


@tail
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """x held within [min_val, max_val]. Raises ValueError if min_val is the larger.

    Args:
        input: a tensor of any shape
        min_val: the lower bound (default: -1.0)
        max_val: the upper bound (default: 1.0)
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.hardtanh(taeda.tensor([-4.0, 0.5, 3.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError(
            f"min_val cannot be greater than max_val, got min_val={min_val} and max_val={max_val}"
        )
    run = _nn.hardtanh_ if inplace else _nn.hardtanh
    return run(input, min_val, max_val)


@tail
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x held within [0, 6].

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.relu6(taeda.tensor([-1.0, 3.0, 8.0]))
    tensor([0., 3., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


@tail
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x, times `negative_slope` where x is negative.

    Args:
        input: a tensor of any shape
        negative_slope: the slope for negative elements (default: 0.01)
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.leaky_relu(taeda.tensor([-1.0, 2.0]), 0.1)
    tensor([-0.1000,  2.0000])
    """
    run = _nn.leaky_relu_ if inplace else _nn.leaky_relu
    return run(input, negative_slope)


@tail
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """x, times a slope where x is negative: drawn from [lower, upper) in training, else their mean.

    Args:
        input: a tensor of any shape
        lower: the lower bound of the slope for negative elements (default: 0.125)
        upper: the upper bound of the slope for negative elements (default: 0.3333333333333333)
        training: whether slopes are drawn; if False their mean is used (default: False)
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.rrelu(taeda.tensor([-24.0, 24.0]), 0.25, 0.5, training=False)
    tensor([-9., 24.])
    """
    run = taeda.rrelu_ if inplace else taeda.rrelu
    return run(input, lower, upper, training)


@tail
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(x + 3) / 6.

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.hardsigmoid(taeda.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


@tail
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x · relu6(x + 3) / 6.

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.hardswish(taeda.tensor([-4.0, 0.0, 3.0]))
    tensor([-0., 0., 3.])
    """
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


# ---- smooth ----


@tail
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where x > 0, else alpha · (exp(x) - 1).

    Args:
        input: a tensor of any shape
        alpha: the limit for large negative input is -alpha (default: 1.0)
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.elu(taeda.tensor([-2.0, 0.0, 2.0]))
    tensor([-0.8647,  0.0000,  2.0000])
    """
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


@tail
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """elu with the scale and alpha that keep mean 0 and variance 1.

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.selu(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([-1.1113,  0.0000,  1.0507])
    """
    return taeda.selu_(input) if inplace else taeda.selu(input)


@tail
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """max(x, 0) + min(0, alpha · (exp(x / alpha) - 1)).

    Args:
        input: a tensor of any shape
        alpha: the limit for large negative input is -alpha; not 0 (default: 1.0)
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.celu(taeda.tensor([-2.0, 0.0, 2.0]), alpha=0.5)
    tensor([-0.4908,  0.0000,  2.0000])
    """
    return taeda.celu_(input, alpha) if inplace else taeda.celu(input, alpha)


@tail
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x · sigmoid(x).

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.silu(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    return _nn.silu_(input) if inplace else _nn.silu(input)


@tail
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x · tanh(softplus(x)).

    Args:
        input: a tensor of any shape
        inplace: whether the input itself is written and returned (default: False)

    >>> taeda.nn.functional.mish(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """
    return _nn.mish_(input) if inplace else _nn.mish(input)


@tail
def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
        input: a tensor of any shape

    >>> taeda.nn.functional.sigmoid(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([0.2689, 0.5000, 0.7311])
    """
    return taeda.sigmoid(input)


@tail
def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent.

    Args:
        input: a tensor of any shape

    >>> taeda.nn.functional.tanh(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.7616,  0.0000,  0.7616])
    """
    return taeda.tanh(input)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x).

    Args:
        input: a tensor of any shape

    >>> taeda.nn.functional.tanhshrink(taeda.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2384,  0.0000,  0.2384])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(tanhshrink, (input,))
    return _nn.tanhshrink(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|).

    Args:
        input: a tensor of any shape

    >>> taeda.nn.functional.softsign(taeda.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(softsign, (input,))
    return _nn.softsign(input)


# ---- along a dimension ----


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second.
    Raises RuntimeError if there are no halves.

    Args:
        input: a float tensor of any shape
        dim: the dimension that is halved; its size is even (default: -1)

    >>> taeda.nn.functional.glu(taeda.tensor([1.0, 2.0, 0.0, 100.0]))
    tensor([0.5000, 2.0000])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(glu, (input,))
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    if input.size(dim) % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim % input.dim()} is size {input.size(dim)}"
        )
    first, second = input.chunk(2, dim)
    return first * second.sigmoid()


def _implicit_dim(name: str, ndim: int) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
    )
    return 0 if ndim in (0, 1, 3) else 1


@tail
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """exp(x) scaled to a sum of 1 along `dim`; computed in `dtype` if one is given.

    Args:
        input: the tensor that the operation is applied to
        dim: the dimension whose elements add up to 1 in probability, from -input.dim() to
            input.dim() - 1; None for 0 if there are 0, 1 or 3 dimensions, else 1, with a
            warning (default: None)
        dtype: the float dtype of the result, to which the input is converted first; None for its
            own

    >>> taeda.nn.functional.softmax(taeda.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([0.0900, 0.2447, 0.6652])
    """
    if dim is None:
        if (watched or type(input) not in exact) and is_for_others((input,)):
            return call_others(softmax, (input,))
        return softmax(input, _implicit_dim("softmax", input.dim()), dtype=dtype)
    return taeda.softmax(input, dim) if dtype is None else taeda.softmax(input, dim, dtype=dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """softmax(-x).

    Args:
        input: a float tensor of any shape
        dim: the dimension whose results add up to 1, from -input.dim() to input.dim() - 1; None
            for 0 if there are 0, 1 or 3 dimensions, else 1, with a warning (default: None)
        dtype: the float dtype of the result, to which the input is converted first; None for its
            own

    >>> taeda.nn.functional.softmin(taeda.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([0.6652, 0.2447, 0.0900])
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(softmin, (input,))
    if dim is None:
        dim = _implicit_dim("softmin", input.dim())
    return softmax(-input, dim, dtype=dtype)


@tail
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)), without the loss of digits of doing one after the other.

    Args:
        input: the tensor that the operation is applied to
        dim: the dimension whose elements add up to 1 in probability, from -input.dim() to
            input.dim() - 1; None for 0 if there are 0, 1 or 3 dimensions, else 1, with a
            warning (default: None)
        dtype: the float dtype of the result, to which the input is converted first; None for its
            own

    >>> taeda.nn.functional.log_softmax(taeda.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([-2.4076, -1.4076, -0.4076])
    """
    if dim is None:
        if (watched or type(input) not in exact) and is_for_others((input,)):
            return call_others(log_softmax, (input,))
        return log_softmax(input, _implicit_dim("log_softmax", input.dim()), dtype=dtype)
    if dtype is None:
        return taeda.log_softmax(input, dim)
    return taeda.log_softmax(input, dim, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A differentiable draw from the categories along `dim`, sharper for a small `tau`.

    With `hard` the result is one-hot, with the gradient of the soft one.

    Args:
        logits: logarithms of probabilities, not normalized, a float tensor of any shape
        tau: the temperature, above 0: the lower, the nearer to one-hot (default: 1)
        hard: whether a sample is one-hot, with the gradient of the soft one (default: False)
        eps: a small number that keeps divisors and logarithms away from 0 (default: 1e-10)
        dim: the dimension to work along; negative counts from the end (default: -1)

    >>> drawn = taeda.nn.functional.gumbel_softmax(taeda.tensor([[1.0, 2.0, 3.0]]), hard=True)
    >>> drawn.sum(), drawn.max()
    (tensor(1.), tensor(1.))
    """
    if (watched or type(logits) not in exact) and is_for_others((logits,)):
        return call_others(gumbel_softmax, (logits,))
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.")
    noise = -taeda.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.max(dim, keepdim=True)[1]
    one_hot = taeda.zeros_like(soft)
    return one_hot.scatter_(dim, chosen, 1.0) - soft.detach() + soft
