"""Dropout: elements or whole channels set to zero at random in training."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.doors import call_others, exact, is_for_others, tail, watched

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

_dropout = taeda.dropout


def _check(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@tail
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero elements with probability `p` and scale the rest by 1 / (1 - p). Raises ValueError for other p.

    Args:
        input: a float tensor of any shape
        p: the probability that an element is set to 0, from 0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: True)
        inplace: whether the input itself is written and returned (default: False)

    >>> y = taeda.nn.functional.dropout(taeda.ones(1000), 0.5)
    >>> y.unique()
    tensor([0., 2.])
    >>> taeda.nn.functional.dropout(taeda.ones(3), 0.5, training=False)
    tensor([1., 1., 1.])
    """
    if not 0.0 <= p <= 1.0:
        _check(p)
    return taeda.dropout_(input, p, training) if inplace else _dropout(input, p, training)


def _channels(name: str, input: Tensor, allowed: tuple[int, int]) -> None:
    if input.dim() not in allowed:
        spatial = allowed[0] - 1
        warn(
            f"{name}: Received a {input.dim()}-D input to {name}, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use dropout "
            f"instead. Note that {name} exists to provide channel-wise dropout on inputs with {spatial} "
            "spatial dimensions, a channel dimension, and an optional batch dimension.",
        )


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (C, L) or (N, C, L). Raises RuntimeError for another rank.

    Args:
        input: a float tensor of any shape
        p: the probability that a channel is set to 0, from 0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: True)
        inplace: whether the input itself is written and returned (default: False)

    >>> y = taeda.nn.functional.dropout1d(taeda.ones(2, 50, 8), 0.5)
    >>> bool((y == y[..., :1]).all())
    True
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(dropout1d, (input,))
    _check(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, "
            "and an optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return _unbatched(input, p, training, inplace, batched=input.dim() == 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (N, C, H, W); three dimensions are taken as (N, C, L), with a warning.

    Args:
        input: a float tensor of any shape
        p: the probability that a channel is set to 0, from 0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: True)
        inplace: whether the input itself is written and returned (default: False)

    >>> y = taeda.nn.functional.dropout2d(taeda.ones(2, 50, 3, 3), 0.5)
    >>> bool((y == y[..., :1, :1]).all())
    True
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(dropout2d, (input,))
    _check(p)
    if input.dim() == 3:
        warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. Please use "
            "dropout1d instead.",
        )
    else:
        _channels("dropout2d", input, (3, 4))
    return _feature_dropout(input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zero whole channels of (C, D, H, W) or (N, C, D, H, W).

    Args:
        input: a float tensor of any shape
        p: the probability that a channel is set to 0, from 0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: True)
        inplace: whether the input itself is written and returned (default: False)

    >>> y = taeda.nn.functional.dropout3d(taeda.ones(2, 50, 2, 3, 3), 0.5)
    >>> bool((y == y[..., :1, :1, :1]).all())
    True
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(dropout3d, (input,))
    _check(p)
    _channels("dropout3d", input, (4, 5))
    return _unbatched(input, p, training, inplace, batched=input.dim() != 4)


def _unbatched(input: Tensor, p: float, training: bool, inplace: bool, *, batched: bool) -> Tensor:
    if batched:
        return _feature_dropout(input, p, training, inplace)
    return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)


def _feature_dropout(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if input.dim() < 2 and training:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, got {input.dim()}"
        )
    if not training or p == 0 or input.numel() == 0:
        return input
    kept = _kept(input, p, channels=True)
    scaled = kept if p == 1 else kept / (1 - p)
    return input.mul_(scaled) if inplace else input * scaled


def _kept(input: Tensor, p: float, *, channels: bool) -> Tensor:
    """1 where an element, or a channel, is kept; 0 elsewhere."""
    shape = input.shape if not channels else (*input.shape[:2], *(1 for _ in input.shape[2:]))
    return input.new_empty(shape).bernoulli_(1 - p)  # of its maps: each sample may draw its own


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout for `selu` networks: what is dropped takes its negative limit, and mean and variance stay.

    Args:
        input: a float tensor of any shape
        p: the probability that an element is dropped, which then has selu's negative limit,
            from 0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: False)
        inplace: whether the input itself is written and returned (default: False)

    >>> x = taeda.randn(100_000)
    >>> y = taeda.nn.functional.alpha_dropout(x, 0.2, training=True)
    >>> bool((y.mean() - x.mean()).abs() < 0.05), bool((y.std() - x.std()).abs() < 0.05)
    (True, True)
    >>> taeda.equal(taeda.nn.functional.alpha_dropout(x, 0.2, training=False), x)
    True
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(alpha_dropout, (input,))
    _check(p)
    return _alpha_dropout(input, p, training, inplace, channels=False)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels.

    Args:
        input: a float tensor of any shape
        p: the probability that a channel is dropped, which then has selu's negative limit, from
            0 to 1 (default: 0.5)
        training: whether to drop, or draw, as in training; if False the evaluation's form
            (default: False)
        inplace: whether the input itself is written and returned (default: False)

    >>> x = taeda.ones(2, 50, 3, 3)
    >>> y = taeda.nn.functional.feature_alpha_dropout(x, 0.5, training=True)
    >>> bool((y == y[:, :, :1, :1]).all())
    True
    """
    if (watched or type(input) not in exact) and is_for_others((input,)):
        return call_others(feature_alpha_dropout, (input,))
    _check(p)
    if training and input.dim() < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, got {input.dim()}"
        )
    return _alpha_dropout(input, p, training, inplace, channels=True)


_SELU_LIMIT = -1.7580993408473766  # of selu for x → -∞: -scale · alpha


def _alpha_dropout(
    input: Tensor, p: float, training: bool, inplace: bool, *, channels: bool
) -> Tensor:
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * 0
    kept = _kept(input, p, channels=channels)
    scale = ((1 - p) * (1 + p * _SELU_LIMIT**2)) ** -0.5
    shift = (kept - 1) * (-_SELU_LIMIT * scale) + (-scale * p * _SELU_LIMIT)
    if inplace:
        return input.mul_(kept * scale).add_(shift)
    return input * (kept * scale) + shift
