"""Causal masks by their meaning, so that attention need not read them."""

from __future__ import annotations

import enum
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """Where the diagonal of a causal mask of (L, S) begins or ends.

    >>> from taeda.nn.attention.bias import CausalVariant
    >>> [variant.name for variant in CausalVariant]
    ['UPPER_LEFT', 'LOWER_RIGHT']
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask (seq_len_q, seq_len_kv) that is told by its sizes alone.

    Given as `attn_mask` it makes `scaled_dot_product_attention` causal. Raises RuntimeError for more queries
    than keys if the diagonal ends in the lower right corner, for then some query would see nothing.

    >>> from taeda.nn.attention.bias import causal_lower_right
    >>> q, k = taeda.ones(1, 1, 2, 4), taeda.ones(1, 1, 3, 4)
    >>> mask = causal_lower_right(2, 3)
    >>> taeda.nn.functional.scaled_dot_product_attention(q, k, k, attn_mask=mask).shape
    taeda.Size([1, 1, 2, 4])
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> CausalBias:
        if not isinstance(variant, CausalVariant):
            raise TypeError(f"variant must be a CausalVariant, got {variant!r}")
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            raise RuntimeError(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv, got "
                f"{seq_len_q} and {seq_len_kv}"
            )
        made = Tensor._make_subclass(cls, taeda.empty(0))
        made.variant, made.seq_len_q, made.seq_len_kv = variant, seq_len_q, seq_len_kv
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: `__new__` did it."""

    def materialize(self, device: Any = None) -> Tensor:
        """The mask itself: True where a query may look."""
        late = self.seq_len_kv - self.seq_len_q if self.variant == CausalVariant.LOWER_RIGHT else 0
        ones = taeda.ones(self.seq_len_q, self.seq_len_kv, device=device, dtype=taeda.bool)
        return taeda.tril(ones, diagonal=late)

    def _materialize(self, device: Any = None) -> Tensor:
        return self.materialize(device)  # the name that programs written for torch know

    def __repr__(self, *args: Any, **kwargs: Any) -> str:
        return repr(self.materialize())

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is _nn.scaled_dot_product_attention:
            return cls._attend(*args, **kwargs)
        return super().__torch_function__(func, types, args, kwargs)

    @staticmethod
    def _attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Any,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        """Attention with a mask of this class. Raises ValueError if `is_causal` is set as well."""
        if is_causal:
            raise ValueError("CausalBias should not be used with is_causal=True")
        square = attn_mask.seq_len_q == attn_mask.seq_len_kv
        told = square or attn_mask.variant == CausalVariant.UPPER_LEFT
        return _nn.scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=None if told else attn_mask.materialize(query.device),
            dropout_p=dropout_p,
            is_causal=told,
            scale=scale,
            enable_gqa=enable_gqa,
        )


def causal_upper_left(*size: int) -> CausalBias:
    """A causal mask (L, S) whose diagonal begins in the upper left corner.

    >>> from taeda.nn.attention.bias import causal_upper_left
    >>> q, k, v = taeda.rand(1, 1, 2, 8), taeda.rand(1, 1, 5, 8), taeda.rand(1, 1, 5, 8)
    >>> taeda.nn.functional.scaled_dot_product_attention(q, k, v, causal_upper_left(2, 5)).shape
    taeda.Size([1, 1, 2, 8])
    """
    _check_size(size)
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """A causal mask (L, S) whose diagonal ends in the lower right corner.

    >>> from taeda.nn.attention.bias import causal_lower_right
    >>> q, k, v = taeda.rand(1, 1, 2, 8), taeda.rand(1, 1, 5, 8), taeda.rand(1, 1, 5, 8)
    >>> mask = causal_lower_right(2, 5)
    >>> taeda.nn.functional.scaled_dot_product_attention(q, k, v, mask).shape
    taeda.Size([1, 1, 2, 8])
    """
    _check_size(size)
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)


def _check_size(size: tuple[int, ...]) -> None:
    if len(size) != 2:
        raise RuntimeError(f"a causal mask takes exactly 2 sizes, got {size}")
