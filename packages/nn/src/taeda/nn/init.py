"""Fill parameters with first values, in place and without a record of it.
Every function returns its tensor.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.doors import asks

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

FanMode = Literal["fan_in", "fan_out"]

_GAINS = {"sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4, "linear": 1}
_LINEAR = frozenset(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which a weight's deviation should grow to make up for the nonlinearity after it.

    `param` is the negative slope of "leaky_relu" (0.01 if None). Raises ValueError for an unknown name
    or a slope that is no number.

    Args:
        nonlinearity: "linear", a convolution's name, "sigmoid", "tanh", "relu", "leaky_relu" or
            "selu".
        param: slope of "leaky_relu" (None: 0.01).

    >>> calculate_gain("tanh")
    1.6666666666666667
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Inputs and outputs of one unit, of a weight laid out as (out, in, *window)."""
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions, "
            f"got shape {tuple(tensor.shape)}"
        )
    window = math.prod(tensor.shape[2:])
    return tensor.size(1) * window, tensor.size(0) * window


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode == "fan_in" else fan_out


def _unrecorded(fill: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same function with gradients off."""

    @functools.wraps(fill)
    def run(*args: Any, **kwargs: Any) -> Tensor:
        with taeda.no_grad():
            return fill(*args, **kwargs)

    return asks(run)


# ---- distributions ----


@_unrecorded
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: taeda.Generator | None = None
) -> Tensor:
    """Draw uniformly from [a, b).

    Args:
        tensor: what is filled, of a floating-point dtype.
        a: lower end (0).
        b: upper end (1).
        generator: where random numbers come from (None: the global stream).

    >>> uniform_(taeda.empty(2)).shape
    taeda.Size([2])
    """
    return tensor.uniform_(a, b, generator=generator)


@_unrecorded
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: taeda.Generator | None = None
) -> Tensor:
    """Draw from the normal distribution.

    Args:
        tensor: what is filled, of a floating-point dtype.
        mean: the mean (0).
        std: the standard deviation, at least 0 (1).
        generator: where random numbers come from (None: the global stream).

    >>> normal_(taeda.empty(2)).shape
    taeda.Size([2])
    """
    return tensor.normal_(mean, std, generator=generator)


@_unrecorded
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: taeda.Generator | None = None,
) -> Tensor:
    """Draw from the normal distribution within [a, b]; best if the mean lies in or near it.

    Args:
        tensor: what is filled, of a floating-point dtype.
        mean: mean before the cut (0).
        std: standard deviation before the cut (1).
        a: lower end (-2).
        b: upper end (2).
        generator: where random numbers come from (None: the global stream).

    >>> trunc_normal_(taeda.empty(2)).shape
    taeda.Size([2])
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
        )
    if not std > 0:
        raise ValueError(f"trunc_normal_: std must be greater than 0, got {std}")
    low, high = (math.erf((edge - mean) / (std * math.sqrt(2))) for edge in (a, b))
    tensor.uniform_(low, high, generator=generator)  # then through the inverse of the distribution
    tensor.erfinv_()
    tensor.mul_(std * math.sqrt(2)).add_(mean)
    return tensor.clamp_(min=a, max=b)


@_unrecorded
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value.

    Args:
        tensor: what is filled.
        val: the value.

    >>> constant_(taeda.empty(2), 3.0)
    tensor([3., 3.])
    """
    return tensor.fill_(val)


@_unrecorded
def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1.

    Args:
        tensor: what is filled.

    >>> ones_(taeda.empty(2))
    tensor([1., 1.])
    """
    return tensor.fill_(1.0)


@_unrecorded
def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0.

    Args:
        tensor: what is filled.

    >>> zeros_(taeda.empty(2))
    tensor([0., 0.])
    """
    return tensor.zero_()


# ---- matrices with structure ----


@_unrecorded
def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix: as many inputs as possible pass a linear layer unchanged. Raises ValueError.

    Args:
        tensor: a matrix.

    >>> eye_(taeda.empty(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    if tensor.dim() != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    rows, columns = tensor.shape
    return tensor.copy_(taeda.eye(rows, columns, dtype=tensor.dtype, device=tensor.device))


@_unrecorded
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution's identity: as many channels as possible, in each group, pass unchanged.

    Raises ValueError unless the weight has 3 to 5 dimensions and its outputs divide into the groups.

    Args:
        tensor: a weight of 3 to 5 dimensions.
        groups: number of groups of outputs (1).

    >>> dirac_(taeda.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError(
            f"Only tensors with 3, 4, or 5 dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    outputs, inputs, *window = tensor.shape
    if outputs % groups != 0:
        raise ValueError(f"dim 0 must be divisible by groups, got {outputs} and {groups}")
    tensor.zero_()
    centre = tuple(size // 2 for size in window)
    each = outputs // groups
    for group in range(groups):
        for channel in range(min(each, inputs)):
            tensor[(group * each + channel, channel, *centre)] = 1
    return tensor


@_unrecorded
def orthogonal_(
    tensor: Tensor, gain: float = 1, generator: taeda.Generator | None = None
) -> Tensor:
    """Rows or columns (the fewer) that are orthogonal and of length `gain`, all but the first dimension
    taken together. Raises ValueError for fewer than 2 dimensions.

    Args:
        tensor: a weight of at least 2 dimensions: outputs, inputs, kernel.
        gain: length of each row or column (1).
        generator: where random numbers come from (None: the global stream).

    Saxe and others (arXiv:1312.6120).

    >>> orthogonal_(taeda.empty(2, 3)).shape
    taeda.Size([2, 3])
    """
    if tensor.dim() < 2:
        raise ValueError(
            f"Only tensors with 2 or more dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    drawn = taeda.empty((rows, columns), dtype=tensor.dtype, device=tensor.device)
    drawn.normal_(0, 1, generator=generator)
    made = _orthonormal_rows(drawn.t()).t() if rows > columns else _orthonormal_rows(drawn)
    return tensor.copy_(made.reshape(tensor.shape)).mul_(gain)


def _orthonormal_rows(matrix: Tensor) -> Tensor:
    """Gram-Schmidt over the rows, each cleaned twice, which is enough in float64."""
    wide = taeda.complex128 if matrix.is_complex() else taeda.float64
    done = taeda.zeros(matrix.shape, dtype=wide, device=matrix.device)
    for i, row in enumerate(matrix.to(wide)):
        before = done[:i]
        for _ in range(2):
            row = row - before.t().mv(before.conj().mv(row))
        done[i] = row / row.norm()
    return done.to(matrix.dtype)


@_unrecorded
def sparse_(
    tensor: Tensor,
    sparsity: float,
    std: float = 0.01,
    generator: taeda.Generator | None = None,
) -> Tensor:
    """Normal values, of which a fraction `sparsity` in each column is 0. Raises ValueError unless 2-D.

    Args:
        tensor: a matrix.
        sparsity: fraction of each column that is 0.
        std: standard deviation of the others (0.01).
        generator: where random numbers come from (None: the global stream).

    Martens (2010).

    >>> sparse_(taeda.empty(4, 2), 0.5).shape
    taeda.Size([4, 2])
    """
    if tensor.dim() != 2:
        raise ValueError(
            f"Only tensors with 2 dimensions are supported, got shape {tuple(tensor.shape)}"
        )
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    tensor.normal_(0, std, generator=generator)
    for column in range(columns):
        chosen = taeda.randperm(rows, generator=generator, device=tensor.device)[:count]
        tensor[chosen, column] = 0
    return tensor


# ---- by fan ----


@asks
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: taeda.Generator | None = None
) -> Tensor:
    """Uniform with variance gain² · 2 / (fan_in + fan_out). Raises ValueError for fewer than 2 dimensions.

    Args:
        tensor: a weight of at least 2 dimensions: outputs, inputs, kernel.
        gain: factor of the standard deviation (1); see `calculate_gain`.
        generator: where random numbers come from (None: the global stream).

    Glorot and Bengio (2010).

    >>> xavier_uniform_(taeda.empty(2, 3)).shape
    taeda.Size([2, 3])
    """
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


@asks
def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: taeda.Generator | None = None
) -> Tensor:
    """Normal with variance gain² · 2 / (fan_in + fan_out). Raises ValueError for fewer than 2 dimensions.

    Args:
        tensor: a weight of at least 2 dimensions: outputs, inputs, kernel.
        gain: factor of the standard deviation (1); see `calculate_gain`.
        generator: where random numbers come from (None: the global stream).

    Glorot and Bengio (2010).

    >>> xavier_normal_(taeda.empty(2, 3)).shape
    taeda.Size([2, 3])
    """
    return normal_(tensor, 0.0, _xavier_std(tensor, gain), generator)


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fans = sum(_calculate_fan_in_and_fan_out(tensor))
    return gain * math.sqrt(2.0 / fans) if fans else 0.0


@asks
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: FanMode = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: taeda.Generator | None = None,
) -> Tensor:
    """Uniform with variance gain² / fan, so that signals keep their size through rectified layers.

    `a` is the negative slope of "leaky_relu"; `mode` keeps the size forward ("fan_in") or backward
    ("fan_out"). Raises ValueError for fewer than 2 dimensions or an unknown name.

    Args:
        tensor: a weight of at least 2 dimensions: outputs, inputs, kernel.
        a: negative slope, for "leaky_relu" only (0).
        mode: "fan_in" (default) or "fan_out".
        nonlinearity: name that `calculate_gain` knows ("leaky_relu").
        generator: where random numbers come from (None: the global stream).

    He and others (arXiv:1502.01852).

    >>> kaiming_uniform_(taeda.empty(2, 3)).shape
    taeda.Size([2, 3])
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


@asks
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: FanMode = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: taeda.Generator | None = None,
) -> Tensor:
    """Normal with variance gain² / fan; else as `kaiming_uniform_`.

    Args:
        tensor: a weight of at least 2 dimensions: outputs, inputs, kernel.
        a: negative slope, for "leaky_relu" only (0).
        mode: "fan_in" (default) or "fan_out".
        nonlinearity: name that `calculate_gain` knows ("leaky_relu").
        generator: where random numbers come from (None: the global stream).

    He and others (arXiv:1502.01852).

    >>> kaiming_normal_(taeda.empty(2, 3)).shape
    taeda.Size([2, 3])
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warn("Initializing zero-element tensors is a no-op")
    return True


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


# ---- former names ----


#: arguments of those that want more than a tensor
_EXAMPLES = {
    "constant": "taeda.empty(2, 3), 1.5",
    "dirac": "taeda.empty(2, 3, 1)",
    "sparse": "taeda.empty(2, 3), sparsity=0.5",
}


def _former(current: Callable[..., Tensor]) -> Callable[..., Tensor]:
    name = current.__name__
    old = name.removesuffix("_")

    def call(*args: Any, **kwargs: Any) -> Tensor:
        warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
        )
        return current(*args, **kwargs)

    call.__name__ = call.__qualname__ = old
    call.__doc__ = f"""The former name of `{name}`.

    Args:
        *args, **kwargs: the arguments of `{name}`.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     {old}({_EXAMPLES.get(old, "taeda.empty(2, 3)")}).shape[:2]
    taeda.Size([2, 3])
    """
    return asks(call)


uniform = _former(uniform_)
normal = _former(normal_)
constant = _former(constant_)
eye = _former(eye_)
dirac = _former(dirac_)
xavier_uniform = _former(xavier_uniform_)
xavier_normal = _former(xavier_normal_)
kaiming_uniform = _former(kaiming_uniform_)
kaiming_normal = _former(kaiming_normal_)
orthogonal = _former(orthogonal_)
sparse = _former(sparse_)

# the names behind them, which modules written elsewhere call: nothing above is recorded either
_no_grad_uniform_, _no_grad_normal_, _no_grad_fill_ = uniform_, normal_, constant_
_no_grad_zero_, _no_grad_trunc_normal_ = zeros_, trunc_normal_
