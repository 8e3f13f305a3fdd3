"""Embeddings with weights of 8 and 4 bits; results are floats."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization._parts import Quantized, parts_of

from ..._weights import quantized_weight
from ._base import HidesPacked, hide_vals

__all__ = ["Embedding", "EmbeddingBag", "EmbeddingPackedParams"]


def _scale_and_shift(parts: Quantized) -> tuple[Tensor, Tensor]:
    scale, shift = parts.scale, -parts.zero_point * parts.scale
    if parts.dtype is taeda.quint4x2:
        return scale.half().float(), shift.half().float()
    return scale, shift


class EmbeddingPackedParams(nn.Module):
    """The weight of an embedding, one entry of the state dict.

    Args:
        num_embeddings, embedding_dim: rows and columns.
        dtype: `quint8` or `quint4x2`.

    >>> rows = taeda.tensor([[0.0, 1.0], [2.0, 4.0]])
    >>> ones, zeros = taeda.ones(2), taeda.zeros(2)
    >>> part = EmbeddingPackedParams(2, 2)
    >>> part.set_weight(taeda.quantize_per_channel(rows, ones, zeros, 0, taeda.quint8))
    >>> list(part.state_dict())
    ['dtype', '_packed_weight']
    """

    _version = 1

    def __init__(self, num_embeddings: int, embedding_dim: int, dtype: Any = taeda.quint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype not in (taeda.quint8, taeda.quint4x2):
            raise NotImplementedError(
                f"an embedding has a weight in quint8 or quint4x2, but got {dtype}"
            )
        floats = taeda.zeros(num_embeddings, embedding_dim)
        ones, zeros = taeda.ones(num_embeddings), taeda.zeros(num_embeddings)
        self.set_weight(taeda.quantize_per_channel(floats, ones, zeros, 0, dtype))

    def set_weight(self, weight: Tensor) -> None:
        """Take over a weight in integers, with a scale and a zero point in float for each row."""
        hide_vals(weight, "an embedding")
        if weight.qscheme() is not taeda.per_channel_affine_float_qparams or weight.dim() != 2:
            raise RuntimeError(
                "an embedding has a weight (rows, columns) that is per_channel_affine_float_qparams, but got "
                f"{weight.qscheme()} of shape {tuple(weight.shape)}"
            )
        self._packed_weight = weight

    def _weight(self) -> Tensor:
        return self._packed_weight

    def sums(
        self, indices: Tensor, starts: Tensor | None = None, factors: Tensor | None = None
    ) -> Tensor:
        """Sums of the rows of each bag, or each row alone, as floats: a number is `integer * scale + shift`.
        Of four bits scale and shift have 16.
        """
        parts = parts_of(self._packed_weight, "embedding")
        scale, shift = parts.kept("rows", lambda: _scale_and_shift(parts))
        made: Tensor = taeda._int8_bags(
            parts.integers, scale, shift, indices.reshape(-1).to(taeda.int64), starts, factors
        )
        return made

    def forward(self, x: Any) -> Any:
        """`x` as it is."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._packed_weight

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        for name in ("dtype", "_packed_weight"):
            if (key := prefix + name) not in state_dict:
                rest[2].append(key)
                return
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight(state_dict.pop(prefix + "_packed_weight"))
        super()._load_from_state_dict(state_dict, prefix, rest[0], False, *rest[2:])

    def __repr__(self) -> str:
        return repr(self._packed_weight)


class Embedding(HidesPacked):
    """Rows of a weight of 8 or 4 bits, as floats.

    Args:
        num_embeddings, embedding_dim: rows and columns.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: kept for callers: they
            matter while training (defaults: padding_idx None, max_norm None, norm_type 2.0,
            scale_grad_by_freq False, sparse False).
        _weight: a weight in integers (default: None).
        dtype: `quint8` or `quint4x2`.

    >>> rows = taeda.tensor([[0.0, 1.0], [2.0, 4.0]])
    >>> weight = taeda.quantize_per_channel(rows, taeda.ones(2), taeda.zeros(2), 0, taeda.quint8)
    >>> layer = taeda.ao.nn.quantized.Embedding(2, 2, _weight=weight)
    >>> layer(taeda.tensor([1, 0])).tolist()
    [[2.0, 4.0], [0.0, 1.0]]
    """

    _version = 1
    _float: Any = nn.Embedding

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        dtype: Any = taeda.quint8,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.dtype = num_embeddings, embedding_dim, dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError(
                    f"a weight of shape {tuple(_weight.shape)} does not fit {num_embeddings} rows of "
                    f"{embedding_dim}"
                )
            self.set_weight(_weight)

    def _check(self, indices: Tensor) -> None:
        if indices.is_floating_point() or indices.dtype is taeda.bool:
            raise RuntimeError(
                f"an embedding wants indices in int64 or int32, but got {indices.dtype}"
            )
        if (
            indices.numel()
            and not 0 <= int(indices.min()) <= int(indices.max()) < self.num_embeddings
        ):
            raise RuntimeError(
                f"an index is out of range for {self.num_embeddings} rows: they are from "
                f"{int(indices.min())} to {int(indices.max())}"
            )

    def forward(self, indices: Tensor) -> Tensor:
        """Floats (*indices, embedding_dim). RuntimeError for an index out of range."""
        self._check(indices)
        return self._packed_params.sums(indices).reshape(*indices.shape, self.embedding_dim)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def extra_repr(self) -> str:
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}"
        )

    def set_weight(self, w: Tensor) -> None:
        """Take over a weight in integers, with a scale and a zero point in float for each row."""
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The weight in integers."""
        return self._packed_params._weight()

    @classmethod
    def _of(cls, mod: Any, dtype: Any) -> Self:
        return cls(mod.num_embeddings, mod.embedding_dim, dtype=dtype)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a float embedding with a `qconfig`, or of one that was trained for it.

        Args:
            mod: the layer.
            use_precomputed_fake_quant: kept for callers.

        AssertionError for another class, without a `qconfig`, and for a weight observer of another dtype.
        """
        watch = getattr(mod, "weight_fake_quant", None)
        if watch is None:
            if not isinstance(mod, cls._float) or not getattr(mod, "qconfig", None):
                raise AssertionError(
                    f"{cls.__name__}.from_float wants {cls._float.__name__} with a qconfig, but got "
                    f"{type(mod).__name__}"
                )
            from ....quantization import qconfig  # late: it asks for modules

            default = qconfig.float_qparams_weight_only_qconfig
            how = mod.qconfig if mod.qconfig.weight is not None else default
            watch = how.weight()
        if watch.dtype not in (taeda.quint8, taeda.quint4x2):
            raise AssertionError(
                "the only supported dtypes of embeddings are quint8 and quint4x2, but the weight observer "
                f"has {watch.dtype}"
            )
        watch(mod.weight.detach())
        made = cls._of(mod, watch.dtype)
        made.set_weight(quantized_weight(mod.weight, watch))
        return made

    @classmethod
    def from_reference(cls, ref_embedding: Any) -> Self:
        """The layer of a reference layer, whose `get_quantized_weight()` gives the weight."""
        made = cls._of(ref_embedding, ref_embedding.weight_dtype)
        made.set_weight(ref_embedding.get_quantized_weight())
        return made


class EmbeddingBag(Embedding):
    """Sums of rows of a weight of 8 or 4 bits, as floats.

    Args:
        num_embeddings, embedding_dim: rows and columns.
        max_norm, norm_type, scale_grad_by_freq, sparse: kept for callers: they matter while
            training (defaults: max_norm None, norm_type 2.0, scale_grad_by_freq False, sparse
            False).
        mode: "sum".
        _weight: a weight in integers (default: None).
        include_last_offset: whether offsets end with the number of indices (default: False).
        dtype: `quint8` or `quint4x2`.

    NotImplementedError for another mode.

    >>> rows = taeda.tensor([[0.0, 1.0], [2.0, 4.0]])
    >>> weight = taeda.quantize_per_channel(rows, taeda.ones(2), taeda.zeros(2), 0, taeda.quint8)
    >>> layer = taeda.ao.nn.quantized.EmbeddingBag(2, 2, _weight=weight)
    >>> layer(taeda.tensor([[1, 1], [0, 1]])).tolist()
    [[4.0, 8.0], [2.0, 5.0]]
    """

    _version = 1
    _float = nn.EmbeddingBag

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "sum",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        dtype: Any = taeda.quint8,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        if mode != "sum":
            raise NotImplementedError(
                f"a quantized EmbeddingBag has the mode 'sum', but got {mode!r}"
            )
        self.mode, self.pruned_weights = mode, False
        self.include_last_offset = include_last_offset

    def forward(
        self,
        indices: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
        compressed_indices_mapping: Tensor | None = None,
    ) -> Tensor:
        """Floats (bags, embedding_dim) of indices (bags, length), or (indices) with `offsets` (bags), where
        each begins. `per_sample_weights` multiply rows. NotImplementedError for pruned rows, RuntimeError for
        an index out of range and offsets that are none.
        """
        if compressed_indices_mapping is not None:
            raise NotImplementedError(
                "a quantized EmbeddingBag has all rows: no indices are mapped"
            )
        self._check(indices)
        starts = self._starts(indices, offsets)
        factors = per_sample_weights
        if factors is not None:
            factors = factors.detach().reshape(-1).float()
        return self._packed_params.sums(indices, starts, factors)

    def _starts(self, indices: Tensor, offsets: Tensor | None) -> Tensor:
        if indices.dim() == 2:
            if offsets is not None:
                raise ValueError("offsets belong to indices in one dimension, but got two")
            return taeda.arange(indices.shape[0] + 1) * indices.shape[1]
        if offsets is None:
            raise ValueError("indices in one dimension want offsets, where each bag begins")
        starts = offsets.to(taeda.int64)
        if not self.include_last_offset:
            starts = taeda.cat([starts, taeda.tensor([indices.numel()])])
        self._check_starts(starts, indices.numel())
        return starts

    def _check_starts(self, starts: Tensor, count: int) -> None:
        rises = starts.numel() and int(starts[0]) == 0 and int(starts[-1]) <= count
        if not rises or bool((starts[1:] < starts[:-1]).any()):
            raise RuntimeError(
                f"offsets begin with 0 and rise up to {count}, but got {starts.tolist()[:20]}"
            )

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    @classmethod
    def _of(cls, mod: Any, dtype: Any) -> Self:
        return cls(
            mod.num_embeddings,
            mod.embedding_dim,
            dtype=dtype,
            mode=getattr(mod, "mode", "sum"),
            include_last_offset=getattr(mod, "include_last_offset", False),
        )
