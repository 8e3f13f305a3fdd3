"""Attention of linear layers that can be observed; weights of attention itself are computed in float."""

from __future__ import annotations

from typing import Any, cast

import taeda
from taeda import Tensor, nn

from ...quantization.stubs import DeQuantStub, QuantStub

__all__ = ["MultiheadAttention"]


class MultiheadAttention(nn.MultiheadAttention):
    """`nn.MultiheadAttention` with a linear layer each for queries, keys and values, which can be observed.

    Args:
        embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn: as in
            `nn.MultiheadAttention` (defaults: dropout 0.0, bias True, add_bias_kv False,
            add_zero_attn False).
        kdim, vdim, batch_first: as there (defaults: kdim None, vdim None, batch_first False).
        device, dtype: of the weights (default: None).

    `prepare` puts it in the place of an `nn.MultiheadAttention` with a `qconfig`.

    >>> layer = taeda.ao.nn.quantizable.MultiheadAttention(4, 2)
    >>> x = taeda.ones(5, 1, 4)
    >>> results, weights = layer(x, x, x)
    >>> results.shape, weights.shape
    (taeda.Size([5, 1, 4]), taeda.Size([1, 5, 5]))
    """

    _FLOAT_MODULE = nn.MultiheadAttention

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            embed_dim,
            num_heads,
            dropout,
            bias,
            add_bias_kv,
            add_zero_attn,
            kdim,
            vdim,
            batch_first,
            device,
            dtype,
        )
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.linear_Q = nn.Linear(self.embed_dim, self.embed_dim, bias=bias, **place)
        self.linear_K = nn.Linear(self.kdim, self.embed_dim, bias=bias, **place)
        self.linear_V = nn.Linear(self.vdim, self.embed_dim, bias=bias, **place)
        out: Any = nn.Linear(self.embed_dim, self.embed_dim, bias=bias, **place)
        self.out_proj = out
        for name in (
            "in_proj_weight",
            "q_proj_weight",
            "k_proj_weight",
            "v_proj_weight",
            "in_proj_bias",
        ):
            setattr(self, name, None)
        self.quant_attn_output, self.quant_attn_output_weights = QuantStub(), QuantStub()
        self.dequant_q, self.dequant_k, self.dequant_v = DeQuantStub(), DeQuantStub(), DeQuantStub()

    def _get_name(self) -> str:
        return "QuantizableMultiheadAttention"

    @classmethod
    def from_float(cls, other: Any) -> Any:
        """The layer of an `nn.MultiheadAttention` with a `qconfig`, prepared. AssertionError for another
        class or without a `qconfig`.
        """
        if type(other) is not cls._FLOAT_MODULE or not getattr(other, "qconfig", None):
            raise AssertionError(
                "MultiheadAttention.from_float wants nn.MultiheadAttention with a qconfig, but got "
                f"{type(other).__name__}"
            )
        made = cls(
            other.embed_dim,
            other.num_heads,
            other.dropout,
            other.in_proj_bias is not None,
            other.bias_k is not None,
            other.add_zero_attn,
            other.kdim,
            other.vdim,
            other.batch_first,
        )
        made.bias_k, made.bias_v = other.bias_k, other.bias_v
        made.qconfig = other.qconfig
        made._take(other)
        from ...quantization import prepare, prepare_qat  # late: they ask for this class

        if other.training:
            return prepare_qat(made.train(), inplace=True)
        return prepare(made.eval(), inplace=True)

    def _take(self, other: Any) -> None:
        size = self.embed_dim
        layers: tuple[Any, ...] = (self.linear_Q, self.linear_K, self.linear_V)
        out: Any = self.out_proj
        if other.in_proj_weight is not None:
            weights = list(other.in_proj_weight.split(size))
        else:
            weights = [other.q_proj_weight, other.k_proj_weight, other.v_proj_weight]
        biases = [None] * 3 if other.in_proj_bias is None else list(other.in_proj_bias.split(size))
        with taeda.no_grad():
            for layer, weight, bias in zip(layers, weights, biases, strict=True):
                layer.weight.copy_(weight)
                if bias is not None:
                    layer.bias.copy_(bias)
            out.weight.copy_(other.out_proj.weight)
            if other.out_proj.bias is not None:
                out.bias.copy_(other.out_proj.bias)

    def dequantize(self) -> nn.MultiheadAttention:
        """A float layer with the weights that this one computes with."""
        made: Any = self._FLOAT_MODULE(
            self.embed_dim,
            self.num_heads,
            self.dropout,
            self._bias_of(self.linear_Q) is not None,
            self.bias_k is not None,
            self.add_zero_attn,
            self.kdim,
            self.vdim,
            self.batch_first,
        )
        layers = (self.linear_Q, self.linear_K, self.linear_V)
        weights, biases = map(self._weight_of, layers), [self._bias_of(layer) for layer in layers]
        with taeda.no_grad():
            if made.in_proj_weight is not None:
                made.in_proj_weight.copy_(taeda.cat(list(weights)))
            else:
                for name, weight in zip("qkv", weights, strict=True):
                    getattr(made, f"{name}_proj_weight").copy_(weight)
            if made.in_proj_bias is not None and all(b is not None for b in biases):
                made.in_proj_bias.copy_(taeda.cat([b for b in biases if b is not None]))
            made.out_proj.weight.copy_(self._weight_of(self.out_proj))
            if (bias := self._bias_of(self.out_proj)) is not None:
                made.out_proj.bias.copy_(bias)
        made.bias_k, made.bias_v = self.bias_k, self.bias_v
        whole: nn.MultiheadAttention = made
        return whole

    @staticmethod
    def _weight_of(layer: Any) -> Tensor:
        weight: Any = layer.weight
        made: Tensor = cast(Tensor, weight()).dequantize() if callable(weight) else weight
        return made

    @staticmethod
    def _bias_of(layer: Any) -> Tensor | None:
        made: Tensor | None = layer.bias() if callable(layer.bias) else layer.bias
        return made

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """NotImplementedError: `nn.quantized.MultiheadAttention.from_observed` makes integers of it."""
        raise NotImplementedError(
            "quantizable attention is observed itself: nn.quantized.MultiheadAttention.from_observed makes "
            "integers of it"
        )

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """(results, weights of attention or None), shaped as those of `nn.MultiheadAttention`. With
        `key_padding_mask` (samples, keys), True for keys that do not count. RuntimeError if `is_causal` comes
        without `attn_mask`.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("is_causal says what attn_mask is: give the mask as well")
        if self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q, k, v = self.linear_Q(query), self.linear_K(key), self.linear_V(value)
        q, k, v = self.dequant_q(q), self.dequant_k(k), self.dequant_v(v)
        made, weights = self._attention(q, k, v, key_padding_mask, attn_mask)
        made = self.out_proj(self.quant_attn_output(made))
        made = made.transpose(0, 1) if self.batch_first else made
        if not need_weights:
            return made, None
        weights = self.quant_attn_output_weights(weights)
        return made, weights.mean(1) if average_attn_weights else weights

    def _attention(
        self, q: Tensor, k: Tensor, v: Tensor, padding: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """(results (queries, samples, embed_dim), weights (samples, heads, queries, keys)) in float."""
        samples, more = q.shape[1], 0
        if self.bias_k is not None and self.bias_v is not None:
            k = taeda.cat([k, self.bias_k.expand(1, samples, -1)])
            v = taeda.cat([v, self.bias_v.expand(1, samples, -1)])
            more += 1
        if self.add_zero_attn:
            zeros = taeda.zeros(1, samples, self.embed_dim)
            k, v, more = taeda.cat([k, zeros]), taeda.cat([v, zeros]), more + 1
        heads = [
            x.reshape(x.shape[0], samples, self.num_heads, -1).permute(1, 2, 0, 3)
            for x in (q, k, v)
        ]
        scores = heads[0] @ heads[1].transpose(2, 3) / (self.head_dim**0.5)
        scores = scores + self._masked(scores, padding, mask, more)
        weights = nn.functional.softmax(scores, -1)
        weights = nn.functional.dropout(weights, self.dropout, self.training)
        made = (weights @ heads[2]).permute(2, 0, 1, 3).reshape(q.shape[0], samples, -1)
        return made, weights

    def _masked(
        self, scores: Tensor, padding: Tensor | None, mask: Tensor | None, more: int
    ) -> Tensor:
        """What is added to scores: minus infinity for what does not count."""
        made = taeda.zeros(scores.shape[0], 1, scores.shape[2], scores.shape[3])
        keys = scores.shape[3] - more
        if mask is not None:
            wide = mask.reshape(-1, self.num_heads, *mask.shape[1:]) if mask.dim() == 3 else mask
            made = made.expand_as(scores).clone()
            made[..., :keys] += _minus(wide)
        if padding is not None:
            made = made.clone()
            made[..., :keys] += _minus(padding)[:, None, None]
        return made


def _minus(mask: Tensor) -> Tensor:
    if mask.dtype is not taeda.bool:
        return mask
    return taeda.zeros(mask.shape).masked_fill(mask, float("-inf"))
