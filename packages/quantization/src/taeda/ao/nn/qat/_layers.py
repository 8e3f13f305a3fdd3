"""Layers whose weights pass a fake quantizer."""

from __future__ import annotations

from typing import Any, Self

from taeda import Tensor, nn

from ..intrinsic.modules import fused

__all__ = ["Conv1d", "Conv2d", "Conv3d", "Embedding", "EmbeddingBag", "Linear"]

F = nn.functional


class _Rounded(nn.Module):
    """A fake quantizer of the weight, and how one is made of a float layer."""

    _FLOAT_MODULE: Any
    weight_fake_quant: Any
    qconfig: Any
    #: arguments of the layer besides device and dtype, by the names of its attributes
    _arguments: tuple[str, ...]

    def _round_with(self, qconfig: Any) -> None:
        if not qconfig:
            raise AssertionError(f"{type(self).__name__} wants a qconfig, but got {qconfig}")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight()

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a float one with a `qconfig`; it takes over weight and bias.

        Args:
            mod: the float layer, alone or joined with ReLU
            use_precomputed_fake_quant: kept for callers

        AssertionError for another class or without a `qconfig`.
        """
        inner = mod[0] if isinstance(mod, fused._FusedModule) else mod
        if type(mod) is not cls._FLOAT_MODULE or not getattr(mod, "qconfig", None):
            raise AssertionError(
                f"qat.{cls.__name__}.from_float wants {cls._FLOAT_MODULE.__name__} with a qconfig, but got "
                f"{type(mod).__name__}"
            )
        facts = {name: getattr(inner, name) for name in cls._arguments}
        if "bias" in facts:
            facts["bias"] = inner.bias is not None
        make: Any = cls
        made: Self = make(**facts, qconfig=mod.qconfig)
        made.weight = inner.weight
        if "bias" in facts:
            made.bias = inner.bias
        made.train(mod.training)
        return made

    def to_float(self) -> nn.Module:
        """The float layer with this weight and bias."""
        kind: Any = self._FLOAT_MODULE
        joined = issubclass(kind, fused._FusedModule)
        kinds: Any = getattr(kind, "kinds", (kind,))
        inner = kinds[0] if joined else kind
        facts = {name: getattr(self, name) for name in self._arguments}
        if "bias" in facts:
            facts["bias"] = self.bias is not None
        made = inner(**facts)
        made.weight = nn.Parameter(self.weight.detach())
        if facts.get("bias"):
            made.bias = nn.Parameter(self.bias.detach())
        made.train(self.training)
        return kind(made, nn.ReLU()) if joined else made


class Linear(_Rounded, nn.Linear):
    """`nn.Linear` whose weight is rounded to the steps that it will have.

    Args:
        in_features, out_features, bias, device, dtype: as in `nn.Linear` (defaults: bias True,
            device None, dtype None)
        qconfig: how: its `weight` makes the fake quantizer (default: None)

    AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = taeda.ao.nn.qat.Linear(2, 3, qconfig=how)
    >>> layer(taeda.ones(4, 2)).shape, type(layer.weight_fake_quant).__name__
    (taeda.Size([4, 3]), 'FakeQuantize')
    """

    _FLOAT_MODULE: Any = nn.Linear
    _arguments = ("in_features", "out_features", "bias")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        nn.Linear.__init__(self, in_features, out_features, bias, device, dtype)
        self._round_with(qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """Floats (..., out_features)."""
        return F.linear(input, self.weight_fake_quant(self.weight), self.bias)


_CONV = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias",
    "padding_mode")  # fmt: skip
_TEXT = """`nn.Conv{rank}d` whose weight is rounded to the steps that it will have.

    Args:
        in_channels, out_channels, kernel_size, stride, padding, dilation: as in `nn.Conv{rank}d`
            (defaults: stride 1, padding 0, dilation 1)
        groups, bias, padding_mode: as there (defaults: groups 1, bias True, padding_mode "zeros")
        device, dtype: of weight and bias (default: None)
        qconfig: how: its `weight` makes the fake quantizer (default: None)

    AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_qat_qconfig
    >>> layer = taeda.ao.nn.qat.Conv{rank}d(1, 2, 3, qconfig=how)
    >>> layer(taeda.ones({shape})).shape
    taeda.Size({made})
    """


def _text(rank: int) -> str:
    return _TEXT.format(rank=rank, shape=(1, 1, *(4,) * rank), made=[1, 2, *[2] * rank])


class _Conv(_Rounded):
    _arguments = _CONV
    _plain: Any
    weight: Any
    bias: Any

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
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._plain.__init__(
            self,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )
        self._round_with(qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """Floats (samples, out_channels, ...)."""
        forward: Any = self._conv_forward
        made: Tensor = forward(input, self.weight_fake_quant(self.weight), self.bias)
        return made


class Conv1d(_Conv, nn.Conv1d):
    __doc__ = _text(1)
    _FLOAT_MODULE: Any = nn.Conv1d
    _plain = nn.Conv1d


class Conv2d(_Conv, nn.Conv2d):
    __doc__ = _text(2)
    _FLOAT_MODULE: Any = nn.Conv2d
    _plain = nn.Conv2d


class Conv3d(_Conv, nn.Conv3d):
    __doc__ = _text(3)
    _FLOAT_MODULE: Any = nn.Conv3d
    _plain = nn.Conv3d


class Embedding(_Rounded, nn.Embedding):
    """`nn.Embedding` whose weight is rounded to the steps that it will have.

    Args:
        num_embeddings, embedding_dim, padding_idx, max_norm, norm_type: as in `nn.Embedding`
        scale_grad_by_freq, sparse: as there
        qconfig: how: its `weight` makes the fake quantizer, with zero points in float (default:
            None)

    AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_embedding_qat_qconfig
    >>> weight = taeda.tensor([[-1.0, 1.0], [-2.0, 3.0]])
    >>> layer = taeda.ao.nn.qat.Embedding(2, 2, _weight=weight, qconfig=how)
    >>> layer(taeda.tensor([1, 0, 1])).shape, layer.weight_fake_quant.dtype
    (taeda.Size([3, 2]), taeda.quint8)
    """

    _FLOAT_MODULE: Any = nn.Embedding
    _arguments = ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type",
        "scale_grad_by_freq", "sparse")  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *args: Any,
        qconfig: Any = None,
        **kwargs: Any,
    ) -> None:
        nn.Embedding.__init__(self, num_embeddings, embedding_dim, *args, **kwargs)
        self._round_with(qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """Floats (*input, embedding_dim)."""
        return F.embedding(
            input,
            self.weight_fake_quant(self.weight),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )


class EmbeddingBag(_Rounded, nn.EmbeddingBag):
    """`nn.EmbeddingBag` whose weight is rounded to the steps that it will have.

    Args:
        num_embeddings, embedding_dim, max_norm, norm_type: as in `nn.EmbeddingBag`
        scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx: as there
        qconfig: how: its `weight` makes the fake quantizer, with zero points in float (default:
            None)

    AssertionError without a `qconfig`.

    >>> how = taeda.ao.quantization.default_embedding_qat_qconfig
    >>> weight = taeda.tensor([[-1.0, 1.0], [-2.0, 3.0]])
    >>> layer = taeda.ao.nn.qat.EmbeddingBag(2, 2, mode="sum", _weight=weight, qconfig=how)
    >>> layer(taeda.tensor([[1, 0], [1, 1]])).shape
    taeda.Size([2, 2])
    """

    _FLOAT_MODULE: Any = nn.EmbeddingBag
    _arguments = ("num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode",
        "sparse", "include_last_offset", "padding_idx")  # fmt: skip

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *args: Any,
        qconfig: Any = None,
        **kwargs: Any,
    ) -> None:
        nn.EmbeddingBag.__init__(self, num_embeddings, embedding_dim, *args, **kwargs)
        self._round_with(qconfig)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Floats (bags, embedding_dim)."""
        return F.embedding_bag(
            input,
            self.weight_fake_quant(self.weight),
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
