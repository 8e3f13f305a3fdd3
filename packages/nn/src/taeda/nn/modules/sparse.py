"""Tables of vectors: Embedding and EmbeddingBag."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor

from .. import functional as F
from .. import init
from ..functional._embedding import needs_sparse
from ..parameter import Parameter
from ._repr import unusual
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A weight (num_embeddings, embedding_dim), normally distributed, with zeros in the padding row."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    weight: Tensor

    def _taeda_set_table(
        self, weight: Tensor | None, freeze: bool, padding_idx: int | None, device: Any, dtype: Any
    ) -> None:
        count = self.num_embeddings
        if padding_idx is not None:
            if not -count <= padding_idx < count:
                raise AssertionError(
                    f"Padding_idx must be within num_embeddings: {padding_idx} is not in "
                    f"[{-count}, {count - 1}]"
                )
            padding_idx %= count
        self.padding_idx = padding_idx
        shape = (count, self.embedding_dim)
        if weight is None:
            made = taeda.empty(shape, device=device, dtype=dtype)
            self.weight = Parameter(made, requires_grad=not freeze)
            self.reset_parameters()
        elif tuple(weight.shape) != shape:
            raise AssertionError(
                "Shape of weight does not match num_embeddings and embedding_dim: "
                f"{tuple(weight.shape)}, not {shape}"
            )
        else:
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with taeda.no_grad():
                self.weight[self.padding_idx].fill_(0)


def _check_matrix(embeddings: Tensor) -> None:
    if embeddings.dim() != 2:
        raise AssertionError(
            f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.dim()} dimensions"
        )


class Embedding(_Table):
    """weight[index]: every index becomes a vector.

    The vector of `padding_idx` starts at 0 and gets no gradient; with `max_norm`, vectors that are used and
    longer are shortened in place.

    Args:
        num_embeddings: number of vectors.
        embedding_dim: size of each vector.
        padding_idx: index whose vector gets no gradient, negative from the end (None).
        max_norm: length above which used vectors are shortened in place (None: never).
        norm_type: order of the norm of `max_norm` (2).
        scale_grad_by_freq: whether a vector's gradient is divided by how often it was used (False).
        sparse: whether the weight's gradient is sparse (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (*), int32 or int64, in [0, num_embeddings); output: (*, embedding_dim).

    The same as a function: `nn.functional.embedding`.

    >>> Embedding(10, 3)(taeda.tensor([[1, 2], [4, 5]])).shape
    taeda.Size([2, 2, 3])
    """

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
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        needs_sparse(sparse)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._taeda_set_table(_weight, _freeze, padding_idx, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """(*) of integers to (*, embedding_dim). Raises IndexError outside of the table."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = unusual(
            self,
            padding_idx=None,
            max_norm=None,
            norm_type=2,
            scale_grad_by_freq=False,
            sparse=False,
        )
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *shown])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A layer whose table is `embeddings` (N, D); frozen unless said otherwise."""
        _check_matrix(embeddings)
        return cls(
            embeddings.size(0),
            embeddings.size(1),
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the vectors of every bag of indices.

    Args:
        num_embeddings: number of vectors.
        embedding_dim: size of each vector.
        max_norm: length above which used vectors are shortened in place (None: never).
        norm_type: order of the norm of `max_norm` (2).
        scale_grad_by_freq: whether a vector's gradient is divided by how often it was used (False).
        mode: "mean" (default), "sum" or "max".
        sparse: whether the weight's gradient is sparse (False).
        include_last_offset: whether the last offset is the end of the last bag (False).
        padding_idx: index whose vector gets no gradient, negative from the end (None).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (B, L), bags of one length, or (N) with offsets (B); output: (B, embedding_dim).

    The same as a function: `nn.functional.embedding_bag`.

    >>> EmbeddingBag(10, 3)(taeda.tensor([[1, 2], [4, 5]])).shape
    taeda.Size([2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        needs_sparse(sparse)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._taeda_set_table(_weight, False, padding_idx, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """(bags, length), or (n) cut at `offsets`, to (bags, embedding_dim)."""
        return F.embedding_bag(
            input,
            self.weight,
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

    def extra_repr(self) -> str:
        shown = unusual(self, max_norm=None, norm_type=2, scale_grad_by_freq=False)
        shown += [f"mode={self.mode!r}", *unusual(self, padding_idx=None)]
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *shown])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """A layer whose table is `embeddings` (N, D); frozen unless said otherwise."""
        _check_matrix(embeddings)
        made = cls(
            embeddings.size(0),
            embeddings.size(1),
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad_(not freeze)
        return made
