"""Convolutions with batch normalisation and ReLU, and linear layers with ReLU, whose weights are rounded.

The weight of a convolution is rounded as it will be once batch normalisation has gone into it: scaled by
`gamma / sqrt(running variance + eps)`. The result is scaled back before it is normalised, so that statistics
are those of the convolution. Benoit Jacob et al.: Quantization and Training of Neural Networks for
Integer-Arithmetic-Only Inference, 2017.
"""

from __future__ import annotations

from typing import Any, Self

from taeda import Tensor, nn

from ...qat import _layers as qat
from ..modules import fused

__all__ = [
    "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d",
    "ConvReLU2d", "ConvReLU3d", "LinearReLU", "freeze_bn_stats", "update_bn_stats",
]  # fmt: skip

F = nn.functional


class LinearReLU(qat.Linear, fused._FusedModule):
    """`nn.qat.Linear` and ReLU in one. The arguments are those of `nn.qat.Linear`.

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = taeda.ao.nn.intrinsic.qat.LinearReLU(2, 3, qconfig=how)
    >>> layer(taeda.ones(4, 2)).min().item() >= 0
    True
    """

    _FLOAT_MODULE = fused.LinearReLU

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        qat.Linear.__init__(self, *args, **kwargs)

    def forward(self, input: Tensor) -> Tensor:
        """Floats (..., out_features)."""
        return F.relu(super().forward(input))


def _conv_relu(rank: int) -> Any:
    plain: Any = getattr(qat, f"Conv{rank}d")
    name = f"ConvReLU{rank}d"

    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        plain.__init__(self, *args, **kwargs)

    def forward(self: Any, input: Tensor) -> Tensor:
        """Floats (samples, out_channels, ...)."""
        return F.relu(plain.forward(self, input))

    doc = f"`nn.qat.Conv{rank}d` and ReLU in one. The arguments are those of `nn.qat.Conv{rank}d`."
    doc += f"""

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = taeda.ao.nn.intrinsic.qat.{name}(1, 2, 3, qconfig=how)
    >>> layer(taeda.ones({(1, 1) + (4,) * rank})).min().item() >= 0
    True
    """
    body = {"__init__": make, "forward": forward, "_FLOAT_MODULE": getattr(fused, name)}
    return type(name, (plain, fused._FusedModule), {**body, "__doc__": doc, "__module__": __name__})


ConvReLU1d, ConvReLU2d, ConvReLU3d = map(_conv_relu, (1, 2, 3))


class _ConvBn(nn.Module):
    """A convolution and batch normalisation, rounded as they will be."""

    _rank: int
    _relu = False
    _FLOAT_MODULE: Any
    bn: Any
    weight: Any
    bias: Any

    def _make(
        self,
        plain: Any,
        norm: Any,
        facts: tuple[Any, ...],
        padding_mode: str,
        eps: float,
        momentum: float,
        freeze_bn: bool,
        qconfig: Any,
    ) -> None:
        plain.__init__(self, *facts, padding_mode)
        if not qconfig:
            raise AssertionError(f"{type(self).__name__} wants a qconfig, but got {qconfig}")
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = norm(self.out_channels, eps, momentum, True, True)
        self.weight_fake_quant = qconfig.weight()
        self.bn.train(self.training and not freeze_bn)

    def forward(self, input: Tensor) -> Tensor:
        """Floats (samples, out_channels, ...)."""
        bn: Any = self.bn
        factor = bn.weight / (bn.running_var + bn.eps).sqrt()
        wide = [-1, *[1] * (self.weight.dim() - 1)]
        along = [1, -1, *[1] * (self.weight.dim() - 2)]
        weight = self.weight_fake_quant(self.weight * factor.reshape(wide))
        forward: Any = self._conv_forward
        made = forward(input, weight, None) / factor.reshape(along)
        if self.bias is not None:
            made = made + self.bias.reshape(along)
        made = bn(made)
        return F.relu(made) if self._relu else made

    def update_bn_stats(self) -> _ConvBn:
        """Let statistics follow the examples."""
        self.freeze_bn = False
        self.bn.train(self.training)
        return self

    def freeze_bn_stats(self) -> _ConvBn:
        """Keep statistics as they are."""
        self.freeze_bn = True
        self.bn.eval()
        return self

    def train(self, mode: bool = True) -> Self:
        """Train, or not; frozen statistics stay so."""
        super().train(mode)
        if mode and self.freeze_bn:
            self.bn.eval()
        return self

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a joined float one with a `qconfig`; it takes over all weights.

        Args:
            mod: what `fuse_modules_qat` made
            use_precomputed_fake_quant: kept for callers

        AssertionError for another class or without a `qconfig`.
        """
        if type(mod) is not cls._FLOAT_MODULE or not getattr(mod, "qconfig", None):
            raise AssertionError(
                f"qat.{cls.__name__}.from_float wants {cls._FLOAT_MODULE.__name__} with a qconfig, but got "
                f"{type(mod).__name__}"
            )
        conv, bn = mod[0], mod[1]
        make: Any = cls
        made: Self = make(
            conv.in_channels,
            conv.out_channels,
            conv.kernel_size,
            conv.stride,
            conv.padding,
            conv.dilation,
            conv.groups,
            conv.bias is not None,
            conv.padding_mode,
            bn.eps,
            bn.momentum,
            False,
            mod.qconfig,
        )
        made.weight, made.bias, made.bn = conv.weight, conv.bias, bn
        return made

    def to_float(self) -> nn.Module:
        """The float convolution, batch normalisation gone into it, joined with ReLU where there is one."""
        plain: Any = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[self._rank]
        me: Any = self
        made = plain(
            me.in_channels,
            me.out_channels,
            me.kernel_size,
            me.stride,
            me.padding,
            me.dilation,
            me.groups,
            True,
            me.padding_mode,
        )
        made.weight, made.bias = nn.utils.fuse_conv_bn_weights(
            self.weight,
            self.bias,
            self.bn.running_mean,
            self.bn.running_var,
            self.bn.eps,
            self.bn.weight,
            self.bn.bias,
        )
        if not self._relu:
            return made
        joined: Any = getattr(fused, f"ConvReLU{self._rank}d")
        both: nn.Module = joined(made, nn.ReLU())
        return both


def _conv_bn(rank: int, relu: bool) -> Any:
    plain: Any = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}[rank]
    norm: Any = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[rank]
    name = f"ConvBn{'ReLU' * relu}{rank}d"

    def make(
        self: Any,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool | None = None,
        padding_mode: str = "zeros",
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:
        facts = (
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bool(bias),
        )
        self._make(plain, norm, facts, padding_mode, eps, momentum, freeze_bn, qconfig)

    joined = f"`nn.Conv{rank}d` and `nn.BatchNorm{rank}d`{' and ReLU' * relu}"
    doc = f"""{joined} in one, with a weight that is rounded.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation: as in `nn.Conv{rank}d`
            (defaults: stride 1, padding 0, dilation 1)
        groups, bias, padding_mode: as there (defaults: groups 1, bias None, which is False,
            padding_mode "zeros")
        eps, momentum: as in `nn.BatchNorm{rank}d` (defaults: eps 1e-05, momentum 0.1)
        freeze_bn: whether statistics stay as they are (default: False)
        qconfig: how: its `weight` makes the fake quantizer (default: None)

    AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = taeda.ao.nn.intrinsic.qat.{name}(1, 2, 3, qconfig=how)
    >>> layer(taeda.ones({(2, 1, *(4,) * rank)})).shape
    taeda.Size({[2, 2, *[2] * rank]})
    """
    body = {
        "__init__": make, "_rank": rank, "_relu": relu, "_FLOAT_MODULE": getattr(fused, name),
        "__doc__": doc, "__module__": __name__,
    }  # fmt: skip
    return type(name, (_ConvBn, plain, fused._FusedModule), body)


ConvBn1d, ConvBn2d, ConvBn3d = (_conv_bn(rank, False) for rank in (1, 2, 3))
ConvBnReLU1d, ConvBnReLU2d, ConvBnReLU3d = (_conv_bn(rank, True) for rank in (1, 2, 3))


def update_bn_stats(mod: nn.Module) -> None:
    """Let statistics of a joined layer follow the examples: `model.apply(update_bn_stats)`.

    Args:
        mod: any module

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = ConvBn2d(1, 2, 3, freeze_bn=True, qconfig=how)
    >>> layer.apply(update_bn_stats).bn.training
    True
    """
    if isinstance(mod, _ConvBn):
        mod.update_bn_stats()


def freeze_bn_stats(mod: nn.Module) -> None:
    """Keep statistics of a joined layer as they are: `model.apply(freeze_bn_stats)`.

    Args:
        mod: any module

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = ConvBn2d(1, 2, 3, qconfig=how)
    >>> layer.apply(freeze_bn_stats).bn.training
    False
    """
    if isinstance(mod, _ConvBn):
        mod.freeze_bn_stats()
