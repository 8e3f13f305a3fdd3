"""Layers whose weight is packed: integers in one buffer, scales in another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import taeda
from taeda import Tensor
from taeda.nn import Module, Parameter

from ._pack import Packed

__all__ = ["Int4Embedding", "Int4Linear", "Int8Embedding", "Int8Linear", "PackedModule"]

_PARTS = ("weight", "scales", "offsets")


class PackedModule(Module):
    """A weight of shape (rows, columns) in buffers `weight`, `scales` and, of 4 bits, perhaps `offsets`.

    The buffers are entries of the state dict, plain tensors. They keep their dtypes when the module is
    converted: `to(taeda.bfloat16)` converts the bias and what the layer computes in. Integers have no
    gradient; the input has one, and so have scales that are made to require it.
    """

    weight: Tensor
    scales: Tensor
    offsets: Tensor | None

    def __init__(self, rows: int, columns: int, packed: Packed) -> None:
        super().__init__()
        self._rows, self._columns = rows, columns
        for name, part in zip(_PARTS, packed, strict=True):
            self.register_buffer(name, part)
        if self.dequantize_shape() != (rows, columns):
            raise ValueError(
                f"{type(self).__name__}: a weight of {rows} x {columns} was announced, but the packed "
                f"tensors hold {self.dequantize_shape()}"
            )

    def dequantize_shape(self) -> tuple[int, int]:
        """The shape that the buffers stand for; raises RuntimeError where they do not fit together."""
        with taeda.no_grad():
            made = self._expanded(*self._parts_by(lambda part: part.to("meta")))
        return made.shape[0], made.shape[1]

    def dequantize(self) -> Tensor:
        """The weight in float32, (rows, columns)."""
        return self._expanded(*self._parts())

    def _parts(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.weight, self.scales, self.offsets

    def _parts_by(self, fn: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor, Tensor | None]:
        """`fn` of each part that there is."""
        more = None if self.offsets is None else fn(self.offsets)
        return fn(self.weight), fn(self.scales), more

    def _expanded(self, weight: Tensor, scales: Tensor, offsets: Tensor | None) -> Tensor:
        raise NotImplementedError

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        kept = self._parts()
        super()._apply(fn, recurse)
        for name, before in zip(_PARTS, kept, strict=True):
            now = self._buffers[name]
            if before is not None and now is not None and now.dtype != before.dtype:
                self._buffers[name] = before.to(now.device)
        return self

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Other dtypes would be converted on the way, and the layer would compute with other numbers."""
        wrong = list(self._of_other_dtype(state_dict, prefix))
        error_msgs.extend(wrong)
        if not wrong:
            super()._load_from_state_dict(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )

    def _of_other_dtype(self, state_dict: Mapping[str, Any], prefix: str) -> Any:
        for name, own in zip(_PARTS, self._parts(), strict=True):
            given = state_dict.get(prefix + name)
            if own is not None and isinstance(given, Tensor) and given.dtype != own.dtype:
                yield (
                    f"{prefix}{name} is {given.dtype} in the state dict, but the layer is "
                    f"{type(self).__name__}, where it is {own.dtype}. Load a float state dict before "
                    "quantize_, and a quantized one by load_quantized_."
                )


class _Bytes(PackedModule):
    def _expanded(self, weight: Tensor, scales: Tensor, offsets: Tensor | None) -> Tensor:
        if offsets is not None:
            raise RuntimeError(
                "offsets are of 4 bits: a number of int8 is an integer times its scale"
            )
        return taeda._weight_int8_expand(weight, scales)


class _Nibbles(PackedModule):
    def _expanded(self, weight: Tensor, scales: Tensor, offsets: Tensor | None) -> Tensor:
        return taeda._weight_int4_expand(weight, scales, offsets, self._columns)


class _Linear(PackedModule):
    """y = x Wᵀ + b over the last dimension: (*, in_features) to (*, out_features)."""

    bias: Tensor | None

    def __init__(
        self, out_features: int, in_features: int, packed: Packed, bias: Tensor | None
    ) -> None:
        super().__init__(out_features, in_features, packed)
        self.in_features, self.out_features = in_features, out_features
        plain = bias is not None and not isinstance(bias, Parameter)
        self.bias = Parameter(bias, requires_grad=False) if plain else bias

    def extra_repr(self) -> str:
        group = self.in_features // self.scales.shape[1]
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}, group_size={group}"
        )


class Int8Linear(_Linear, _Bytes):
    """`nn.Linear` with a weight of int8.

    Args:
        out_features, in_features: sizes of the last dimension after and before.
        packed: what a configuration's `pack` gives: `weight` in int8 (out_features, in_features), `scales`
            (out_features, groups) in float16 or float32.
        bias: (out_features,), or None.

    The input may be float32, bfloat16 or float16, and the result has its dtype.

    >>> linear = taeda.nn.Linear(64, 8)
    >>> packed = taeda.quantization.int8_weight_only().pack(linear.weight)
    >>> Int8Linear(8, 64, packed, linear.bias)
    Int8Linear(in_features=64, out_features=8, bias=True, group_size=64)
    """

    def forward(self, input: Tensor) -> Tensor:
        """(*, in_features) to (*, out_features)."""
        return taeda._weight_int8_mm(input, self.weight, self.scales, self.bias)


class Int4Linear(_Linear, _Nibbles):
    """`nn.Linear` with a weight of 4 bits.

    Args:
        out_features, in_features: sizes of the last dimension after and before.
        packed: what a configuration's `pack` gives: `weight` in uint8 (out_features, 64 for every 128 of
            in_features), `scales` and `offsets` (out_features, groups) in float16 or float32; offsets may
            be None.
        bias: (out_features,), or None.

    The input may be float32, bfloat16 or float16, and the result has its dtype.

    >>> linear = taeda.nn.Linear(128, 8)
    >>> packed = taeda.quantization.int4_weight_only(64).pack(linear.weight)
    >>> small = Int4Linear(8, 128, packed, linear.bias)
    >>> small.weight.shape, small(taeda.ones(2, 128)).shape
    (taeda.Size([8, 64]), taeda.Size([2, 8]))
    """

    def forward(self, input: Tensor) -> Tensor:
        """(*, in_features) to (*, out_features)."""
        return taeda._weight_int4_mm(input, self.weight, self.scales, self.offsets, self.bias)


class _Embedding(PackedModule):
    """Rows of a packed weight by their indices: (*) to (*, embedding_dim)."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        packed: Packed,
        padding_idx: int | None,
        dtype: taeda.dtype,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, packed)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx
        self.dtype = dtype

    def forward(self, input: Tensor) -> Tensor:
        """Indices of any shape to rows, in the dtype that the module was converted to last."""
        flat = input.reshape(-1)
        rows = self._parts_by(lambda part: part.index_select(0, flat))
        return self._expanded(*rows).to(self.dtype).reshape(*input.shape, self.embedding_dim)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        self.dtype = fn(taeda.empty(0, dtype=self.dtype)).dtype
        return super()._apply(fn, recurse)

    def extra_repr(self) -> str:
        group = self.embedding_dim // self.scales.shape[1]
        return (
            f"{self.num_embeddings}, {self.embedding_dim}, group_size={group}, dtype={self.dtype}"
        )


class Int8Embedding(_Embedding, _Bytes):
    """`nn.Embedding` that reads the weight of an `Int8Linear`, as where a model ties the two.

    Args:
        num_embeddings, embedding_dim: rows and columns.
        packed: as of `Int8Linear`.
        padding_idx: kept for callers: it matters while training.
        dtype: that of the results.

    >>> packed = taeda.quantization.int8_weight_only().pack(taeda.ones(10, 64))
    >>> rows = Int8Embedding(10, 64, packed, None, taeda.float32)
    >>> rows(taeda.tensor([1, 9])).shape, rows.weight.dtype
    (taeda.Size([2, 64]), taeda.int8)
    """


class Int4Embedding(_Embedding, _Nibbles):
    """`nn.Embedding` that reads the weight of an `Int4Linear`.

    Args:
        num_embeddings, embedding_dim: rows and columns.
        packed: as of `Int4Linear`.
        padding_idx: kept for callers: it matters while training.
        dtype: that of the results.

    >>> packed = taeda.quantization.int4_weight_only(64).pack(taeda.ones(10, 128))
    >>> rows = Int4Embedding(10, 128, packed, None, taeda.float32)
    >>> rows(taeda.tensor([1, 9])).shape, rows.weight.dtype
    (taeda.Size([2, 128]), taeda.uint8)
    """
