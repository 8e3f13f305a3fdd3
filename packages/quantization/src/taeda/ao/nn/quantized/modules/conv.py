"""Convolutions on integers, and transposed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization import _kernels
from taeda.quantization._parts import per_tensor

from ...intrinsic.modules import fused
from ._base import WeightedQuantizedModule, hide_vals

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


def _all(value: Any, rank: int) -> tuple[int, ...]:
    return (int(value),) * rank if isinstance(value, int) else tuple(int(n) for n in value)


class _ConvNd(WeightedQuantizedModule):
    """What convolutions on integers share."""

    _rank: int
    _relu = False
    _transposed = False
    _float: Any

    def _set(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str,
    ) -> None:
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{groups} groups do not divide {in_channels} input and {out_channels} output channels"
            )
        if padding_mode not in ("zeros", "reflect"):
            raise NotImplementedError(
                f"a quantized convolution pads with zeros or reflects, but got {padding_mode!r}"
            )
        if isinstance(padding, str):
            raise NotImplementedError(
                f"a quantized convolution wants padding in numbers, but got {padding!r}"
            )
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride = _all(kernel_size, self._rank), _all(stride, self._rank)
        self.padding, self.dilation = _all(padding, self._rank), _all(dilation, self._rank)
        self.output_padding = _all(output_padding, self._rank)
        self.padding_mode, self.transposed = padding_mode, self._transposed
        first, second = in_channels, out_channels
        if not self._transposed:
            first, second = out_channels, in_channels
        shape = (first, second // groups, *self.kernel_size)
        empty = per_tensor(taeda.zeros(shape, dtype=taeda.int8), 1.0, 0, taeda.qint8)
        self.set_weight_bias(empty, taeda.zeros(out_channels) if bias else None)
        self.scale, self.zero_point = 1.0, 0

    def _get_name(self) -> str:
        kind = "ConvTranspose" if self._transposed else "Conv"
        return f"Quantized{kind}{'ReLU' if self._relu else ''}{self._rank}d"

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}"
        )
        zeros = (0,) * self._rank
        for name, plain in (
            ("padding", zeros), ("dilation", (1,) * self._rank), ("output_padding", zeros), ("groups", 1),
        ):  # fmt: skip
            if getattr(self, name) != plain:
                text += f", {name}={getattr(self, name)}"
        return text if self._bias is not None else text + ", bias=False"

    def weight(self) -> Tensor:
        """The weight in qint8, shaped as that of the float layer."""
        return self._weight

    def bias(self) -> Tensor | None:
        """The bias in float32, or None."""
        return self._bias

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Take over a weight in qint8 and a bias in float32."""
        hide_vals(w, type(self).__name__)
        self._weight, self._bias = w, None if b is None else b.detach().float()

    def forward(self, input: Tensor) -> Tensor:
        """Integers (samples, out_channels, ...) with the layer's scale, of (samples, in_channels, ...).
        ValueError for another rank.
        """
        if input.dim() != self._rank + 2:
            raise ValueError(
                f"{type(self).__name__} wants {self._rank + 2} dimensions, but got {tuple(input.shape)}"
            )
        padding: Sequence[int] = self.padding
        if self.padding_mode == "reflect" and any(padding):
            around = [n for p in reversed(self.padding) for n in (p, p)]
            input, padding = nn.functional.pad(input, around, mode="reflect"), (0,) * self._rank
        return _kernels.convolution(
            input,
            self._weight,
            self._bias,
            self.stride,
            padding,
            self.dilation,
            self.groups,
            self.scale,
            self.zero_point,
            self._relu,
        )

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight, self._bias
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        missing = [
            prefix + n
            for n in ("weight", "bias", "scale", "zero_point")
            if prefix + n not in state_dict
        ]
        if missing:
            rest[2].extend(missing)
            return
        self.set_weight_bias(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        self.scale = float(state_dict.pop(prefix + "scale"))
        self.zero_point = int(state_dict.pop(prefix + "zero_point"))
        super()._load_from_state_dict(state_dict, prefix, rest[0], False, *rest[2:])

    @classmethod
    def _of(cls, mod: Any) -> Self:
        more = {"output_padding": mod.output_padding} if cls._transposed else {}
        return cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            mod.stride,
            mod.padding,
            dilation=mod.dilation,
            groups=mod.groups,
            bias=mod.bias is not None,
            padding_mode=mod.padding_mode,
            **more,
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed float convolution, of one joined with batch normalisation or ReLU, or of
        one that was trained for it.

        Args:
            mod: a prepared and calibrated layer.
            use_precomputed_fake_quant: kept for callers: the scales of training are used in any
                case.

        AssertionError without a `qconfig` or for another class, RuntimeError if an observer saw nothing.
        """
        weight, bias, inner = mod.__dict__.get("weight"), None, mod
        if hasattr(mod, "weight_fake_quant"):
            weight, bias = mod.weight, mod.bias
            if hasattr(mod, "bn"):
                weight, bias = nn.utils.fusion.fuse_conv_bn_weights(
                    mod.weight,
                    mod.bias,
                    mod.bn.running_mean,
                    mod.bn.running_var,
                    mod.bn.eps,
                    mod.bn.weight,
                    mod.bn.bias,
                )
                mod.weight_fake_quant(weight)
        else:
            if isinstance(mod, fused._FusedModule):
                inner = mod[0]
                inner.qconfig = mod.qconfig
                inner.activation_post_process = getattr(mod, "activation_post_process", None)
            if not isinstance(inner, cls._float):
                raise AssertionError(
                    f"{cls.__name__}.from_float wants {cls._float.__name__}, but got {type(mod).__name__}"
                )
            weight, bias = inner.weight, inner.bias
        made = cls._of(inner)
        made._take_observed(inner, weight, bias)
        return made

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference layer, whose `get_quantized_weight()` gives the weight.

        Args:
            ref_qconv: a layer in float that knows its quantized weight.
            output_scale, output_zero_point: those of results.
        """
        made = cls._of(ref_qconv)
        made.set_weight_bias(ref_qconv.get_quantized_weight(), ref_qconv.bias)
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made


_CONV = """A convolution on integers (samples, in_channels, {places}), with a weight in qint8.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation: as in `nn.Conv{rank}d`
            (defaults: stride 1, padding 0, dilation 1).
        groups, bias: as there (defaults: groups 1, bias True).
        padding_mode: "zeros" or "reflect".
        device, dtype: kept for callers: integers are made on the processor (default: None).

    The state dict has `weight`, `bias`,
    `scale` and `zero_point`, as PyTorch's. NotImplementedError for floats: a `QuantStub` quantizes them.

    >>> layer = taeda.ao.nn.quantized.Conv{rank}d(1, 2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones({shape}), 0.5, 0, taeda.quint8)
    >>> layer(x).shape
    taeda.Size({made})
    """
_PLACES = {1: "length", 2: "height, width", 3: "depth, height, width"}


def _text(template: str, rank: int, size: int) -> str:
    """The text for a rank; its example makes `size` places of 4 along each dimension."""
    shape, made = (1, 1, *(4,) * rank), [1, 2, *[size] * rank]
    return template.format(rank=rank, places=_PLACES[rank], shape=shape, made=made)


class _Plain(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self._set(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            0,
            groups,
            bias,
            padding_mode,
        )


class Conv1d(_Plain):
    __doc__ = _text(_CONV, 1, 2)
    _rank, _float = 1, nn.Conv1d


class Conv2d(_Plain):
    __doc__ = _text(_CONV, 2, 2)
    _rank, _float = 2, nn.Conv2d


class Conv3d(_Plain):
    __doc__ = _text(_CONV, 3, 2)
    _rank, _float = 3, nn.Conv3d


_TRANSPOSED = """A transposed convolution on integers (samples, in_channels, {places}), its weight in qint8.

    Args:
        in_channels, out_channels, kernel_size, stride, padding: as in `nn.ConvTranspose{rank}d`
            (defaults: stride 1, padding 0).
        output_padding, groups, bias, dilation: as there (defaults: output_padding 0, groups 1,
            bias True, dilation 1).
        padding_mode: "zeros".
        device, dtype: kept for callers: integers are made on the processor (default: None).

    The weight has one scale:
    NotImplementedError for channels, and for floats.

    >>> layer = taeda.ao.nn.quantized.ConvTranspose{rank}d(1, 2, 3)
    >>> x = taeda.quantize_per_tensor(taeda.ones({shape}), 0.5, 0, taeda.quint8)
    >>> layer(x).shape
    taeda.Size({made})
    """


class _Transposed(_ConvNd):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f"a transposed convolution pads with zeros, but got {padding_mode!r}")
        self._set(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            output_padding,
            groups,
            bias,
            padding_mode,
        )

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Take over a weight in qint8 with one scale, and a bias in float32.
        NotImplementedError for scales of channels.
        """
        hide_vals(w, type(self).__name__)
        if w.qscheme() is not taeda.per_tensor_affine:
            raise NotImplementedError(
                f"{type(self).__name__} has one scale for its weight, but got {w.qscheme()}: use a qconfig "
                "whose weight observer knows one range, such as default_weight_observer"
            )
        super().set_weight_bias(w, b)

    def forward(self, input: Tensor) -> Tensor:
        """Integers (samples, out_channels, ...) with the layer's scale. ValueError for another rank."""
        if input.dim() != self._rank + 2:
            raise ValueError(
                f"{type(self).__name__} wants {self._rank + 2} dimensions, but got {tuple(input.shape)}"
            )
        return _kernels.transposed_convolution(
            input,
            self._weight,
            self._bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.dilation,
            self.groups,
            self.scale,
            self.zero_point,
        )


class ConvTranspose1d(_Transposed):
    __doc__ = _text(_TRANSPOSED, 1, 6)
    _rank, _float = 1, nn.ConvTranspose1d


class ConvTranspose2d(_Transposed):
    __doc__ = _text(_TRANSPOSED, 2, 6)
    _rank, _float = 2, nn.ConvTranspose2d


class ConvTranspose3d(_Transposed):
    __doc__ = _text(_TRANSPOSED, 3, 6)
    _rank, _float = 3, nn.ConvTranspose3d
