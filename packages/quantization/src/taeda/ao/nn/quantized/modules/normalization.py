"""Normalisations within a sample, on integers."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization._activations import normalised

from ..._weights import activation_parameters

__all__ = ["GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm"]

F = nn.functional


class _Scaled(nn.Module):
    """Scale and zero point of results, and weights that are given."""

    scale: Tensor
    zero_point: Tensor

    def _take(self, weight: Any, bias: Any, scale: float, zero_point: int) -> None:
        for name, value in (("weight", weight), ("bias", bias)):
            plain = value is None or isinstance(value, nn.Parameter)
            kept = value if plain else nn.Parameter(value, False)
            self.register_parameter(name, kept)
        self.register_buffer("scale", taeda.tensor(float(scale)))
        self.register_buffer("zero_point", taeda.tensor(int(zero_point)))

    def _of(self, input: Tensor, function: Any) -> Tensor:
        name = f"quantized {type(self).__name__}"
        return normalised(input, name, function, float(self.scale), int(self.zero_point))

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"


def _detached(x: Any) -> Any:
    return None if x is None else x.detach()


class LayerNorm(_Scaled, nn.LayerNorm):
    """`nn.LayerNorm` on integers.

    Args:
        normalized_shape: the last dimensions, which are normalised together
        weight, bias: in float32, of that shape, or None
        scale, zero_point: those of results
        eps: what is added to variances (default: 1e-05)
        elementwise_affine: whether there are weights (default: True)
        device, dtype: kept for callers (default: None)

    >>> layer = taeda.ao.nn.quantized.LayerNorm(2, None, None, scale=0.5, zero_point=128)
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[1.0, 3.0]]), 0.5, 0, taeda.quint8)
    >>> layer(x).dequantize().tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        nn.LayerNorm.__init__(self, normalized_shape, eps, elementwise_affine)
        self._take(weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        weights = _detached(self.weight), _detached(self.bias)
        return self._of(input, lambda x: F.layer_norm(x, self.normalized_shape, *weights, self.eps))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.LayerNorm`."""
        facts = activation_parameters(mod, "LayerNorm")
        return cls(
            mod.normalized_shape, mod.weight, mod.bias, *facts, mod.eps, mod.elementwise_affine
        )


class GroupNorm(_Scaled, nn.GroupNorm):
    """`nn.GroupNorm` on integers.

    Args:
        num_groups, num_channels: how many groups of how many channels
        weight, bias: in float32, (num_channels), or None
        scale, zero_point: those of results
        eps: what is added to variances (default: 1e-05)
        affine: whether there are weights (default: True)
        device, dtype: kept for callers (default: None)

    >>> layer = taeda.ao.nn.quantized.GroupNorm(2, 4, None, None, scale=0.02, zero_point=128)
    >>> x = taeda.quantize_per_tensor(taeda.rand(1, 4, 3), 0.01, 0, taeda.quint8)
    >>> layer(x).shape, layer(x).q_zero_point()
    (taeda.Size([1, 4, 3]), 128)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        nn.GroupNorm.__init__(self, num_groups, num_channels, eps, affine)
        self._take(weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        weights = _detached(self.weight), _detached(self.bias)
        return self._of(input, lambda x: F.group_norm(x, self.num_groups, *weights, self.eps))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.GroupNorm`."""
        facts = activation_parameters(mod, "GroupNorm")
        return cls(
            mod.num_groups, mod.num_channels, mod.weight, mod.bias, *facts, mod.eps, mod.affine
        )


_INSTANCE = """`nn.InstanceNorm{rank}d` on integers (samples, num_features, ...).

    Args:
        num_features: the number of channels
        weight, bias: in float32, (num_features), or None
        scale, zero_point: those of results
        eps: what is added to variances (default: 1e-05)
        momentum, track_running_stats: kept for callers: each sample has its own statistics
            (defaults: momentum 0.1, track_running_stats False)
        affine: whether there are weights (default: False)
        device, dtype: kept for callers (default: None)

    >>> layer = taeda.ao.nn.quantized.InstanceNorm{rank}d(2, None, None, scale=0.02, zero_point=128)
    >>> x = taeda.quantize_per_tensor(taeda.rand({shape}), 0.01, 0, taeda.quint8)
    >>> layer(x).shape, layer(x).q_zero_point()
    (taeda.Size({made}), 128)
    """


def _text(rank: int) -> str:
    shape = [1, 2, *[3] * rank]
    return _INSTANCE.format(rank=rank, shape=tuple(shape), made=shape)


class _Instance(_Scaled):
    eps: float

    def _make(
        self,
        kind: Any,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float,
        momentum: float,
        affine: bool,
        track: bool,
    ) -> None:
        if track:
            raise NotImplementedError(
                "a quantized InstanceNorm has no running statistics: track_running_stats=False"
            )
        kind.__init__(self, num_features, eps, momentum, affine, False)
        self._take(weight, bias, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        weights = _detached(self.weight), _detached(self.bias)
        return self._of(input, lambda x: F.instance_norm(x, None, None, *weights, eps=self.eps))

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed instance normalisation."""
        facts = activation_parameters(mod, cls.__name__)
        made: Any = cls
        return made(mod.num_features, mod.weight, mod.bias, *facts, mod.eps, affine=mod.affine)


class InstanceNorm1d(_Instance, nn.InstanceNorm1d):
    __doc__ = _text(1)

    def __init__(
        self,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._make(
            nn.InstanceNorm1d,
            num_features,
            weight,
            bias,
            scale,
            zero_point,
            eps,
            momentum,
            affine,
            track_running_stats,
        )


class InstanceNorm2d(_Instance, nn.InstanceNorm2d):
    __doc__ = _text(2)

    def __init__(
        self,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._make(
            nn.InstanceNorm2d,
            num_features,
            weight,
            bias,
            scale,
            zero_point,
            eps,
            momentum,
            affine,
            track_running_stats,
        )


class InstanceNorm3d(_Instance, nn.InstanceNorm3d):
    __doc__ = _text(3)

    def __init__(
        self,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._make(
            nn.InstanceNorm3d,
            num_features,
            weight,
            bias,
            scale,
            zero_point,
            eps,
            momentum,
            affine,
            track_running_stats,
        )
