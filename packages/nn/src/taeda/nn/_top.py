"""Functions of layers that stand at the top: `taeda.ctc_loss`, `taeda.embedding_bag`,
`taeda.grid_sampler` and their like.

They are those of `nn.functional` with reductions and modes as numbers, as operators of the field take them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import asks, require_tensors

from .functional import (
    affine_grid,
    conv_tbc,
    cosine_similarity,
    grid_sample,
    pairwise_distance,
    pdist,
)
from .functional import ctc_loss as _ctc_loss
from .functional._dropout import _alpha_dropout, _check, _feature_dropout
from .functional._embedding import _bag_of_each, _shorten_rows
from .functional._embedding import embedding_bag as _embedding_bag
from .utils._norms import all_but

__all__ = [
    "affine_grid_generator",
    "alpha_dropout",
    "alpha_dropout_",
    "conv_tbc",
    "cosine_similarity",
    "ctc_loss",
    "embedding_bag",
    "embedding_renorm_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "feature_dropout",
    "feature_dropout_",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "norm_except_dim",
    "pairwise_distance",
    "pdist",
]

_REDUCTIONS = ("none", "mean", "sum")
_BAGS = ("sum", "mean", "max")
_SAMPLES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


def _word(name: str, words: tuple[str, ...], number: int) -> str:
    """The word that a number stands for; ValueError says which numbers there are."""
    if isinstance(number, int) and 0 <= number < len(words):
        return words[number]
    known = ", ".join(f"{i} ({word})" for i, word in enumerate(words))
    raise ValueError(f"{name} is one of {known}; got {number!r}")


@asks
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Tensor:
    """`nn.functional.ctc_loss` with `reduction` 0 for none, 1 for the mean, 2 for the sum.

    Args:
        log_probs: logarithms of probabilities, a float tensor of shape (T, N, C), or (T, C) for one
            sample
        targets: the labels, integers from 0 to C - 1 but for blank: of shape (N, S), or all in one
            row. RuntimeError for others
        input_lengths: the lengths of the inputs, each at most T: N integers
        target_lengths: the lengths of the targets: N integers
        blank: the class that stands for no label, from 0 to C - 1 (default: 0)
        reduction: 0 for the loss of each sample, 1 for the mean of the losses, each divided by the
            length of its target, 2 for their sum (default: 1). ValueError for others
        zero_infinity: whether an infinite loss, of a target too long for its input, and its
            gradient are 0 (default: False)

    Graves and others, ICML 2006.

    >>> log_p = taeda.full((5, 1, 3), 1 / 3).log()
    >>> taeda.ctc_loss(log_p, taeda.tensor([[1, 2]]), (5,), (2,), reduction=1)
    tensor(0.9689)
    """
    how = _word("reduction", _REDUCTIONS, reduction)
    return _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity)


# ---- tables ----


@asks
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Bags of rows of `weight`, by `mode` 0 their sum, 1 mean, 2 maximum; then three tensors about the bags.

    (output (bags, F), the bag of each index, how many indices a bag counts, and for the maximum the
    row of the table from which each element came). An index equal to `padding_idx` counts nowhere.

    Args:
        weight: the table, a float tensor of shape (rows, F)
        indices: rows of weight, int32 or int64, of all bags in one row. RuntimeError for one that
            the table has not
        offsets: where each bag begins in the indices, int32 or int64: (bags,), with 0 first
        scale_grad_by_freq: whether the gradient of a row is divided by how often it came
            (default: False)
        mode: how a bag is put together: 0 for the sum, 1 for the mean, 2 for the maximum
            (default: 0). ValueError for others
        sparse: whether the gradient of weight is a sparse tensor; not for the maximum
            (default: False)
        per_sample_weights: a factor of each row, of the shape of the indices and the dtype of
            weight; only for sums, else NotImplementedError. None for ones (default: None)
        include_last_offset: whether offsets ends with the number of indices, and so has one entry
            more than there are bags (default: False)
        padding_idx: an index that counts nowhere and whose row gets no gradient, from -rows to
            rows - 1; None for none (default: None)

    >>> table = taeda.tensor([[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]])
    >>> taeda.embedding_bag(table, taeda.tensor([1, 2, 2]), taeda.tensor([0, 1]))[0]
    tensor([[1., 2.],
            [6., 8.]])
    """
    require_tensors("embedding_bag", weight=weight, indices=indices, offsets=offsets)
    how = _word("mode", _BAGS, mode)
    output = _embedding_bag(
        indices,
        weight,
        offsets,
        mode=how,
        sparse=sparse,
        scale_grad_by_freq=scale_grad_by_freq,
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    with taeda.no_grad():
        return output, *_about_bags(weight, indices, offsets, include_last_offset, padding_idx, how)


def _about_bags(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    last: bool,
    padding_idx: int | None,
    mode: str,
) -> tuple[Tensor, Tensor, Tensor]:
    bag, count = _bag_of_each(indices, offsets, last)
    kept = taeda.ones_like(bag)
    if padding_idx is not None:
        kept = (indices != padding_idx % weight.size(0)).to(bag.dtype)
    sizes = taeda.zeros(count, dtype=bag.dtype, device=bag.device).index_add_(0, bag, kept)
    if mode != "max":
        return bag, sizes, sizes.clone()
    return bag, sizes, _sources(weight, indices, bag, kept, count)


def _sources(weight: Tensor, indices: Tensor, bag: Tensor, kept: Tensor, count: int) -> Tensor:
    """The index whose row holds the maximum of each bag and column, the first of several; -1 for an
    empty bag.
    """
    used = kept.nonzero().squeeze(1)
    rows, bag, indices = weight[indices[used]], bag[used], indices[used].to(taeda.int64)
    where = bag.unsqueeze(1).expand_as(rows)
    lowest = taeda.full((count, rows.size(1)), -float("inf"), dtype=rows.dtype)
    largest = lowest.scatter_reduce(0, where, rows, "amax").gather(0, where)
    place = taeda.arange(rows.size(0)).unsqueeze(1).expand_as(rows)
    place = taeda.where(rows == largest, place, rows.size(0))
    first = taeda.full(lowest.shape, rows.size(0)).scatter_reduce(0, where, place, "amin")
    return taeda.cat([indices, indices.new_full((1,), -1)])[first]


@asks
def embedding_renorm_(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Shorten those rows of `weight` that `indices` name to a norm of at most `max_norm`, in place.

    Args:
        weight: the table, a float tensor of shape (rows, F), which is written and returned
        indices: rows of weight, int32 or int64, of any shape. IndexError for one that the table has not
        max_norm: the largest norm, at least 0
        norm_type: the order of the norm, above 0; float("inf") for the largest absolute value

    >>> table = taeda.tensor([[3.0, 4.0], [6.0, 8.0]])
    >>> taeda.embedding_renorm_(table, taeda.tensor([0]), 1.0, 2.0)
    tensor([[0.6000, 0.8000],
            [6.0000, 8.0000]])
    """
    require_tensors("embedding_renorm_", weight=weight, indices=indices)
    _shorten_rows(weight, indices, max_norm, norm_type)
    return weight


# ---- dropout ----


@asks
def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout`: what is dropped takes selu's limit, and mean and variance stay.

    Args:
        input: a float tensor of any shape
        p: the probability that an element is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> x = taeda.ones(3)
    >>> taeda.alpha_dropout(x, 0.5, False)
    tensor([1., 1., 1.])
    """
    require_tensors("alpha_dropout", input=input)
    return _alpha(input, p, train, False, False)


@asks
def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place: the input is written and returned.

    Args:
        input: a float tensor of any shape
        p: the probability that an element is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> x = taeda.ones(3)
    >>> taeda.alpha_dropout_(x, 0.5, False) is x
    True
    """
    require_tensors("alpha_dropout_", input=input)
    return _alpha(input, p, train, True, False)


@asks
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout`: `alpha_dropout` of whole channels.

    Args:
        input: a float tensor of shape (N, C, *); RuntimeError for fewer than two dimensions in training
        p: the probability that a channel of a sample is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> y = taeda.feature_alpha_dropout(taeda.ones(2, 50, 3, 3), 0.5, True)
    >>> bool((y == y[..., :1, :1]).all())
    True
    """
    require_tensors("feature_alpha_dropout", input=input)
    return _alpha(input, p, train, False, True)


@asks
def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place: the input is written and returned.

    Args:
        input: a float tensor of shape (N, C, *); RuntimeError for fewer than two dimensions in training
        p: the probability that a channel of a sample is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> x = taeda.ones(2, 50, 3, 3)
    >>> y = taeda.feature_alpha_dropout_(x, 0.5, True)
    >>> bool((x == x[..., :1, :1]).all())
    True
    """
    require_tensors("feature_alpha_dropout_", input=input)
    return _alpha(input, p, train, True, True)


def _alpha(input: Tensor, p: float, train: bool, inplace: bool, channels: bool) -> Tensor:
    _check(p)
    _check_channels(input, channels and train)
    return _alpha_dropout(input, p, train, inplace, channels=channels)


def _check_channels(input: Tensor, wanted: bool) -> None:
    if wanted and input.dim() < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, got {input.dim()}"
        )


@asks
def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Zero whole channels of (N, C, ...) with probability `p`, and scale the rest by 1 / (1 - p).

    Args:
        input: a float tensor of shape (N, C, *); RuntimeError for fewer than two dimensions in training
        p: the probability that a channel of a sample is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> y = taeda.feature_dropout(taeda.ones(2, 50, 3, 3), 0.5, True)
    >>> bool((y == y[..., :1, :1]).all())
    True
    """
    require_tensors("feature_dropout", input=input)
    _check(p)
    return _feature_dropout(input, p, train, False)


@asks
def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place: the input is written and returned.

    Args:
        input: a float tensor of shape (N, C, *); RuntimeError for fewer than two dimensions in training
        p: the probability that a channel of a sample is dropped, from 0 to 1. ValueError for others
        train: whether to drop; if False, the values stay

    >>> x = taeda.ones(2, 50, 3, 3)
    >>> y = taeda.feature_dropout_(x, 0.5, True)
    >>> bool((x == x[..., :1, :1]).all())
    True
    """
    require_tensors("feature_dropout_", input=input)
    _check(p)
    return _feature_dropout(input, p, train, True)


# ---- sampling ----


@asks
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """`nn.functional.grid_sample` with modes 0 bilinear, 1 nearest, 2 bicubic and paddings 0 zeros,
    1 border, 2 reflection.

    Args:
        input: images of shape (N, C, H, W), or volumes (N, C, D, H, W)
        grid: where to read, from -1 to 1: shape (N, H', W', 2), or (N, D', H', W', 3), x first. The
            result has its sizes: (N, C, H', W') or (N, C, D', H', W')
        interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic, which is for images only.
            ValueError for others
        padding_mode: what lies outside: 0 for zeros, 1 for the border's values, 2 for reflections.
            ValueError for others
        align_corners: whether the centres of the outermost elements lie at -1 and 1; if False,
            their outer edges do

    >>> image = taeda.arange(4.0).reshape(1, 1, 2, 2)
    >>> taeda.grid_sampler(image, taeda.zeros(1, 1, 1, 2), 0, 0, True)
    tensor([[[[1.5000]]]])
    """
    require_tensors("grid_sampler", input=input, grid=grid)
    mode = _word("interpolation_mode", _SAMPLES, interpolation_mode)
    padding = _word("padding_mode", _PADDINGS, padding_mode)
    return grid_sample(input, grid, mode, padding, bool(align_corners))


def _of_rank(name: str, rank: int, doc: str) -> Any:
    def sampler(
        input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
    ) -> Tensor:
        require_tensors(name, input=input, grid=grid)
        if input.dim() != rank or grid.dim() != rank:
            raise RuntimeError(
                f"{name}: wanted input and grid of {rank} dimensions, got {input.dim()} and {grid.dim()}"
            )
        return grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)

    sampler.__name__ = sampler.__qualname__ = name
    sampler.__doc__ = doc
    return asks(sampler)


grid_sampler_2d = _of_rank(
    "grid_sampler_2d",
    4,
    """`grid_sampler` of images (N, C, H, W).

Args:
    input: images of shape (N, C, H, W), a float tensor
    grid: where to read, from -1 to 1: shape (N, H', W', 2), x first. The result has shape
        (N, C, H', W'). RuntimeError for another number of dimensions
    interpolation_mode: 0 for bilinear, 1 for nearest, 2 for bicubic. ValueError for others
    padding_mode: what lies outside: 0 for zeros, 1 for the border's values, 2 for reflections.
        ValueError for others
    align_corners: whether the centres of the outermost elements lie at -1 and 1; if False, their
        outer edges do

>>> image = taeda.arange(4.0).reshape(1, 1, 2, 2)
>>> taeda.grid_sampler_2d(image, taeda.zeros(1, 1, 1, 2), 0, 0, True)
tensor([[[[1.5000]]]])
""",
)
grid_sampler_3d = _of_rank(
    "grid_sampler_3d",
    5,
    """`grid_sampler` of volumes (N, C, D, H, W).

Args:
    input: volumes of shape (N, C, D, H, W), a float tensor
    grid: where to read, from -1 to 1: shape (N, D', H', W', 3), x first. The result has shape
        (N, C, D', H', W'). RuntimeError for another number of dimensions
    interpolation_mode: 0 for bilinear, 1 for nearest; there is no bicubic for volumes. ValueError for others
    padding_mode: what lies outside: 0 for zeros, 1 for the border's values, 2 for reflections.
        ValueError for others
    align_corners: whether the centres of the outermost elements lie at -1 and 1; if False, their
        outer edges do

>>> volume = taeda.arange(8.0).reshape(1, 1, 2, 2, 2)
>>> taeda.grid_sampler_3d(volume, taeda.zeros(1, 1, 1, 1, 3), 0, 0, True)
tensor([[[[[3.5000]]]]])
""",
)


@asks
def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid`: the places from which an affine map takes each element of an image.

    Args:
        theta: affine maps, a float tensor of shape (N, 2, 3), or (N, 3, 4) for volumes
        size: the sizes of the images that the grid is for: (N, C, H, W), which gives (N, H, W, 2),
            or (N, C, D, H, W), which gives (N, D, H, W, 3). NotImplementedError for others
        align_corners: whether the centres of the outermost elements lie at -1 and 1; if False,
            their outer edges do

    >>> same = taeda.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> taeda.affine_grid_generator(same, [1, 1, 1, 2], True)
    tensor([[[[-1.,  0.],
              [ 1.,  0.]]]])
    """
    require_tensors("affine_grid_generator", theta=theta)
    return affine_grid(theta, list(size), bool(align_corners))


# ---- weights ----


@asks
def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The `pow`-norm over every dimension but `dim`, kept at size 1; dim -1 means the norm of all,
    as one number.

    Args:
        v: a float tensor with at least one dimension
        pow: the order of the norm (default: 2)
        dim: the dimension that stays, from -n to n - 1 of n, where -1 is not the last one but
            none (default: 0). IndexError for others

    >>> taeda.norm_except_dim(taeda.tensor([[3.0, 4.0], [6.0, 8.0]]), 2, 0)
    tensor([[ 5.],
            [10.]])
    """
    require_tensors("norm_except_dim", v=v)
    if dim == -1:
        return taeda.linalg.vector_norm(v, pow)
    others = all_but(v, dim)
    return taeda.linalg.vector_norm(v, pow, others, keepdim=True) if others else v.abs()
