"""Attention whose projections are computed on integers: what `convert` makes of
`nn.quantizable.MultiheadAttention`.
"""

from __future__ import annotations

from typing import Any

from ...quantizable._attention import MultiheadAttention as _Quantizable

__all__ = ["MultiheadAttention"]


class MultiheadAttention(_Quantizable):
    """`nn.quantizable.MultiheadAttention` after `convert`. It is made by `from_observed`.

    Args:
        embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn: as in
            `nn.MultiheadAttention` (defaults: dropout 0.0, bias True, add_bias_kv False,
            add_zero_attn False).
        kdim, vdim, batch_first: as there (defaults: kdim None, vdim None, batch_first False).
        device, dtype: of the weights before they become integers (default: None).

    >>> layer = taeda.ao.nn.quantizable.MultiheadAttention(4, 2).eval()
    >>> layer.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready = taeda.ao.quantization.prepare(layer)
    >>> x = taeda.ones(5, 1, 4)
    >>> _ = ready(x, x, x)
    >>> MultiheadAttention.from_observed(ready)._get_name()
    'QuantizedMultiheadAttention'
    """

    def _get_name(self) -> str:
        return "QuantizedMultiheadAttention"

    @classmethod
    def from_float(cls, *args: Any, **kwargs: Any) -> Any:
        """NotImplementedError: `prepare` makes a quantizable attention first."""
        raise NotImplementedError(
            "a quantized MultiheadAttention is made of an observed one: prepare(), examples, convert()"
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """The layer of an observed `nn.quantizable.MultiheadAttention`. AssertionError for another class."""
        if not isinstance(other, _Quantizable):
            raise AssertionError(
                "MultiheadAttention.from_observed wants nn.quantizable.MultiheadAttention, but got "
                f"{type(other).__name__}"
            )
        from ....quantization import convert  # late: it asks for this class

        made = convert(other, inplace=False, remove_qconfig=True)
        made.__class__ = cls
        return made
