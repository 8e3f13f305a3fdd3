"""Losses that are written in terms of other operators. `reduction` is 0 for none, 1 mean, 2 sum."""

from __future__ import annotations

import math
from functools import partial

import taeda
from taeda import Tensor
from taeda._C import _nn

from .._short_floats import rounded_once

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy_loss",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
    "nll_loss2d",
    "nll_loss_nd",
    "poisson_nll_loss",
    "triplet_margin_loss",
]

Number = int | float
NONE, MEAN, SUM = range(3)


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """Apply a reduction to the losses of single elements."""
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


def l1_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """In one pass for floating-point tensors; complex ones take the magnitude."""
    common = taeda.result_type(self, target)
    if common.is_floating_point:
        return _nn._l1_loss(self, target, reduction)
    return reduced((self - target).abs(), reduction)


# ---- yes or no ----


def binary_cross_entropy(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Tensor:
    """Raises RuntimeError for values outside of [0, 1]."""
    if self.shape != target.shape:
        raise ValueError(
            f"binary_cross_entropy: target of size {tuple(target.shape)} must have the size of the "
            f"input, {tuple(self.shape)}"
        )
    if weight is None:
        return _nn._binary_cross_entropy(self, target, reduction)
    return _weighted(self, target, weight, reduction)


@partial(rounded_once, of=3)
def _weighted(self: Tensor, target: Tensor, weight: Tensor, reduction: int) -> Tensor:
    return reduced(_nn._binary_cross_entropy(self, target, NONE) * weight, reduction)


def binary_cross_entropy_with_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    """In one pass without weights."""
    if weight is None and pos_weight is None:
        return _nn._binary_cross_entropy_with_logits(self, target, reduction)
    return _weighted_of_logits(self, target, weight, pos_weight, reduction)


@partial(rounded_once, of=4)
def _weighted_of_logits(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    pos_weight: Tensor | None,
    reduction: int,
) -> Tensor:
    if pos_weight is None:
        loss = _nn._binary_cross_entropy_with_logits(self, target, NONE)
    else:
        log_weight = (pos_weight - 1) * target + 1
        right = self > 0  # the logarithm is small on either side, and both sides meet smoothly at 0
        slope = taeda.where(right, 1 - target, -pos_weight * target)
        loss = slope * self + log_weight * -_nn.log_sigmoid(taeda.where(right, self, -self))
    return reduced(loss if weight is None else loss * weight, reduction)


# ---- one class of many ----


def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> Tensor:
    """Any number of dimensions."""
    return _nn.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


nll_loss_nd = nll_loss2d = nll_loss


def cross_entropy_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    """In one piece for classes without smoothing."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if self.shape == target.shape:
        return _of_probabilities(self, target, weight, reduction, ignore_index, label_smoothing)
    if label_smoothing > 0:
        return _smoothed(self, target, weight, reduction, ignore_index, label_smoothing)
    return _nn._cross_entropy(self, target, weight, reduction, ignore_index)[0]


def _along_classes(weight: Tensor, scores: Tensor) -> Tensor:
    if scores.dim() == 1:
        return weight
    return weight.view(1, -1, *[1] * (scores.dim() - 2))


@partial(rounded_once, of=3)
def _of_probabilities(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    if not target.is_floating_point():
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got {target.dtype}"
        )
    if ignore_index >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    axis = 0 if self.dim() == 1 else 1
    classes = self.size(axis)
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no "
            f"classes but got weight tensor of shape: {list(weight.shape)}"
        )
    if label_smoothing > 0:
        target = target * (1 - label_smoothing) + label_smoothing / classes
    logs = self.log_softmax(axis)
    product = logs * target
    if weight is not None:
        product = product * _along_classes(weight, self)
    loss = -product.sum(axis)
    if reduction == MEAN:
        return loss.sum() / (loss.numel() or math.nan)
    return reduced(loss, reduction)


@partial(rounded_once, of=3)
def _smoothed(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    label_smoothing: float,
) -> Tensor:
    """The nll loss, mixed with the mean of all classes' losses."""
    axis = 0 if self.dim() == 1 else 1
    classes = self.size(axis)
    logs = self.log_softmax(axis)
    nll = _nn.nll_loss_forward(logs, target, weight, reduction, ignore_index)[0]
    everywhere = logs if weight is None else logs * _along_classes(weight, self)
    smooth = -everywhere.sum(axis)
    ignored = target == ignore_index
    smooth = smooth.masked_fill(ignored, 0)
    if reduction == MEAN:
        used = ~ignored
        if weight is not None:  # the sum that nll_loss_forward returns has no derivative
            used = weight[target.masked_fill(ignored, 0)].masked_fill(ignored, 0)
        smooth = smooth.sum() / used.sum()
    else:
        smooth = reduced(smooth, reduction)
    return (1 - label_smoothing) * nll + smooth * (label_smoothing / classes)


# ---- distributions ----


@rounded_once
def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Tensor:
    """Where the target is 0 so is the loss."""
    if log_target:
        loss = target.exp() * (target - self)
    else:
        loss = taeda.xlogy(target, target) - target * self
    return reduced(loss, reduction)


@rounded_once
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    """Stirling's term counts for targets above 1."""
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        safe = target.clamp_min(1)
        stirling = safe * safe.log() - safe + 0.5 * (2 * math.pi * safe).log()
        loss = loss + taeda.where(target > 1, stirling, 0.0)
    return reduced(loss, reduction)


# ---- pairs and triples ----


@rounded_once
def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float, reduction: int) -> Tensor:
    """Targets other than 1 and -1 add both parts."""
    far = taeda.where(target != 1, (margin - self).clamp_min(0), 0.0)
    return reduced(far + taeda.where(target != -1, self, 0.0), reduction)


@partial(rounded_once, of=3)
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    """Raises RuntimeError unless all have the same number of dimensions."""
    if not input1.dim() == input2.dim() == target.dim():
        raise RuntimeError(
            "margin_ranking_loss: All input tensors should have same dimension but got sizes: input1: "
            f"{tuple(input1.shape)}, input2: {tuple(input2.shape)}, target: {tuple(target.shape)}"
        )
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


@rounded_once
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int
) -> Tensor:
    """Inputs [N, D] with targets [N], or [D] with one target. Raises RuntimeError for other ranks."""
    if target.dim() > 1:
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported; got {target.dim()}D"
        )
    wanted = target.dim() + 1
    if input1.dim() != wanted or input2.dim() != wanted:
        raise RuntimeError(
            f"{target.dim()}D target tensor expects {wanted}D input tensors, but found inputs with "
            f"sizes {tuple(input1.shape)} and {tuple(input2.shape)}."
        )
    tiny = 1e-12
    product = (input1 * input2).sum(-1)
    lengths = ((input1 * input1).sum(-1) + tiny) * ((input2 * input2).sum(-1) + tiny)
    cosine = product / lengths.sqrt()
    near = taeda.where(target == 1, 1 - cosine, 0.0)
    far = taeda.where(target == -1, (cosine - margin).clamp_min(0), 0.0)
    return reduced(near + far, reduction)


@partial(rounded_once, of=3)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float,
    p: float,
    eps: float,
    swap: bool,
    reduction: int,
) -> Tensor:
    """With `swap` the negative's distance is the smaller of those to anchor and positive."""
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and negative "
            f"{negative.dim()}D inputs"
        )

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return taeda.linalg.vector_norm(a - b + eps, p, -1)

    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = taeda.minimum(far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)


# ---- margins between classes ----


def _check_scores(name: str, self: Tensor) -> Tensor:
    """Scores as a matrix of samples."""
    if self.dim() > 2 or (self.dim() and self.shape[-1] == 0):
        raise RuntimeError(
            f"{name}: Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(self.shape)}"
        )
    return self.reshape(1, -1) if self.dim() < 2 else self


def _beyond(labels: Tensor, low: int, high: int) -> bool:
    """Whether a label is below `low`, or not below `high`."""
    if labels.is_meta or labels.numel() == 0:
        return False
    least, most = taeda.aminmax(labels)
    return bool(least.item() < low or most.item() >= high)


def _in_one_pass(scores: Tensor) -> bool:
    """Whether there is a kernel for these; squares and weights go the way of other operators."""
    return scores.dtype in (taeda.float32, taeda.float64)


@rounded_once
def multi_margin_loss(
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
) -> Tensor:
    """Input [N, C] or [C]; the target's own class does not count."""
    if p not in (1, 2):
        raise RuntimeError(f"multi_margin_loss: only p == 1 and p == 2 supported, got {p}")
    scores = _check_scores("multi_margin_loss", self)
    samples, classes = scores.shape
    if target.numel() != samples or target.dim() > 1:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples. Expected target size [{samples}], but got {list(target.shape)}."
        )
    if target.dtype != taeda.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    if weight is not None and tuple(weight.shape) != (classes,):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    if p == 1 and weight is None and _in_one_pass(scores):
        own = target if target.dim() else target.reshape(1)
        loss = _nn._margin_loss(scores, own, margin)[0]
        return reduced(loss.reshape(()) if self.dim() < 2 else loss, reduction)
    index = target.reshape(-1, 1)
    if _beyond(index, 0, classes):
        raise RuntimeError(
            f"target out of range: classes are 0 to {classes - 1}, got {target.tolist()}"
        )
    gap = (margin - scores.gather(1, index) + scores).clamp_min(0)
    gap = gap if p == 1 else gap * gap
    if weight is not None:
        gap = gap * weight[index]
    loss = gap.scatter(1, index, 0.0).sum(1) / classes
    return reduced(loss.reshape(()) if self.dim() < 2 else loss, reduction)


@rounded_once
def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The labels of a sample are those before the first -1 in its row of the target."""
    scores = _check_scores("multilabel_margin_loss", self)
    if target.shape != self.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(self.shape)}"
        )
    if target.dtype != taeda.int64:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype}")
    labels = target.reshape(scores.shape)
    if _in_one_pass(scores):
        loss = _nn._margin_loss(scores, labels)[0]
        return reduced(loss.reshape(()) if self.dim() < 2 else loss, reduction)
    classes = scores.size(1)
    if _beyond(labels, -1, classes):
        raise RuntimeError(f"argument #2 'target' is out of range: labels are -1 to {classes - 1}")
    counts = (labels < 0).cumsum(1) == 0
    index = labels.clamp_min(0)
    other = taeda.zeros_like(scores).scatter_add(1, index, counts.to(scores.dtype)) == 0
    gap = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    used = counts.unsqueeze(2) & other.unsqueeze(1)
    loss = (gap * used.to(gap.dtype)).sum([1, 2]) / classes
    return reduced(loss.reshape(()) if self.dim() < 2 else loss, reduction)
