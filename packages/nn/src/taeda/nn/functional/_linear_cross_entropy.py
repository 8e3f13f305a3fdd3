"""Cross entropy of logits that are a linear function of the input, whole or a part of the batch at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import call_others, exact, is_for_others, watched

from ._linear import linear
from ._loss_classes import cross_entropy

__all__ = ["LinearCrossEntropyOptions", "linear_cross_entropy"]

_METHOD = re.compile(r"auto|aspect_ratio(:[1-9][0-9]*)?")
_POLICIES = ("accurate", "balanced", "compact", "auto")
_FLOATS = (taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64)


@dataclass
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` goes through the batch in parts, so that all logits never exist at once.

    A part has `batch_chunk_size` rows. Without it, "aspect_ratio:n" and "auto" (n = 2) choose parts
    whose logits are at most n times the input's numbers, and None takes the whole batch. The
    weight's gradient is summed over the parts in `acc_dtype`; by default `acc_policy` chooses:
    float32 at least, or with "compact" the weight's own dtype. The way back computes the logits
    anew and keeps what it needs, with or without `allow_retain_graph`.

    Raises ValueError for an unknown method, policy or dtype, or a size that is not positive.

    Args:
        allow_retain_graph: taken; the graph can be kept in either case (False).
        batch_chunk_size: rows of a part, at least 1 (None: by `chunking_method`).
        chunking_method: "auto" (default), "aspect_ratio:n" or None.
        acc_policy: "auto" (default), "accurate", "balanced" or "compact": how the dtype of the
            sum is chosen.
        acc_dtype: floating-point dtype of the sum (None: by `acc_policy`).

    >>> LinearCrossEntropyOptions(batch_chunk_size=8).batch_chunk_size
    8
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        size = self.batch_chunk_size
        if size is not None and (not isinstance(size, int) or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.chunking_method is not None and not _METHOD.fullmatch(self.chunking_method):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.acc_dtype not in (None, *_FLOATS):
            raise ValueError(f"acc_dtype must be None or one of {_FLOATS}, got {self.acc_dtype}")

    def rows(self, batch: int, features: int, classes: int) -> int:
        """The rows of a part."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        if self.chunking_method is None:
            return max(1, batch)
        ratio = int(self.chunking_method.partition(":")[2] or 2)
        return max(1, min(batch, ratio * batch * features // max(1, classes)))

    def sum_dtype(self, dtype: Any) -> Any:
        """The dtype in which gradients of a weight of `dtype` are summed."""
        if self.acc_dtype is not None:
            return self.acc_dtype
        return dtype if self.acc_policy == "compact" else taeda.promote_types(dtype, taeda.float32)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy(linear(input, linear_weight, linear_bias), target)` of (N, F) or (F) and a
    weight (C, F) or (C, ..., F).

    With `options` the logits of a part of the batch exist at a time, forward and back; second
    derivatives are refused then. Weights of more dimensions and targets that require grad go the
    plain way. Raises RuntimeError for shapes that do not fit.

    Args:
        input: features, of shape (N, in_features)
        linear_weight: the weights of the scores, of shape (C, in_features)
        target: the right classes, int64 of shape (N,), from 0 to C - 1
        linear_bias: the bias of the scores, of shape (C,); None for none
        weight: a factor of each class or element; None for ones
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        ignore_index: the class whose targets count nothing, neither in the sum nor in the
            mean's divisor; None for -100, which is no class (default: None)
        label_smoothing: the share of the target that is spread evenly over all classes, from 0 to
            1 (default: 0.0)
        options: how the scores are cut into pieces; None to choose

    >>> linear_cross_entropy(taeda.zeros(2, 3), taeda.ones(4, 3), taeda.tensor([0, 3]))
    tensor(1.3863)
    """
    if (
        watched
        or type(input) not in exact
        or type(linear_weight) not in exact
        or type(target) not in exact
        or type(linear_bias) not in exact
        or type(weight) not in exact
    ) and is_for_others((input, linear_weight, target, linear_bias, weight)):
        return call_others(
            linear_cross_entropy, (input, linear_weight, target, linear_bias, weight)
        )
    indices = not _is_probabilities(input, linear_weight, target)
    _check(input, linear_weight, linear_bias, weight, label_smoothing)
    if not indices and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    loss: dict[str, Any] = {
        "weight": weight,
        "ignore_index": -100 if ignore_index is None else ignore_index,
        "label_smoothing": label_smoothing,
    }
    plain = options is None or input.dim() == 1 or linear_weight.dim() > 2 or target.requires_grad
    if plain or not input.size(0):
        logits = _logits(input, linear_weight, linear_bias)
        return cross_entropy(logits, target, reduction=reduction, **loss)
    if target.size(0) != input.size(0):
        raise ValueError(
            f"Expected input batch_size ({input.size(0)}) to match target batch_size ({target.size(0)})."
        )
    parts = "none" if reduction == "none" else "sum"
    total = _InParts.apply(
        input, linear_weight, linear_bias, target, {**loss, "reduction": parts}, options
    )
    if reduction != "mean":
        return total
    return total / (_weights_of(target, loss) if indices else input.size(0))


def _logits(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    flat = weight.reshape(-1, weight.size(-1))
    made = linear(input, flat, None if bias is None else bias.reshape(-1))
    return made if weight.dim() == 2 else made.reshape(input.size(0), *weight.shape[:-1])


def _is_probabilities(input: Tensor, weight: Tensor, target: Tensor) -> bool:
    return target.is_floating_point() and target.dim() == input.dim() + weight.dim() - 2


def _check(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    class_weight: Tensor | None,
    smoothing: float,
) -> None:
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {weight.dim()}"
        )
    if input.size(-1) != weight.size(-1):
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.size(-1)} and {weight.size(-1)}, respectively"
        )
    if input.dim() == 1 and weight.dim() > 2:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(weight.shape)} requires "
            f"batched input, (N, {weight.size(-1)}), got "
            f"unbatched input with shape {tuple(input.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:-1]:
        raise RuntimeError(
            f"expected linear_bias shape {tuple(weight.shape[:-1])}, got {tuple(bias.shape)}"
        )
    if class_weight is not None and class_weight.shape != weight.shape[:1]:
        raise RuntimeError(
            f"expected weight shape to be {tuple(weight.shape[:1])}, got {tuple(class_weight.shape)}"
        )
    if not 0 <= smoothing <= 1:
        raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {smoothing}")


def _weights_of(target: Tensor, loss: dict[str, Any]) -> Tensor | int:
    """What the sum of losses by class indices is divided by for their mean."""
    counted = target != loss["ignore_index"]
    if loss["weight"] is None:
        return counted.sum()
    return loss["weight"][taeda.where(counted, target, 0)].mul(counted).sum()


class _InParts(taeda.autograd.Function):
    """The losses, or their sum, of one part of the batch after the other."""

    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        loss: dict[str, Any],
        options: LinearCrossEntropyOptions,
    ) -> Tensor:
        ctx.save_for_backward(input, weight, bias, target)
        ctx.loss, ctx.options = loss, options
        made = [
            cross_entropy(_logits(input[rows], weight, bias), target[rows], **loss)
            for rows in _InParts.parts(ctx, input, weight)
        ]
        return taeda.cat(made) if loss["reduction"] == "none" else taeda.stack(made).sum()

    @staticmethod
    def parts(ctx: Any, input: Tensor, weight: Tensor) -> Iterator[slice]:
        batch, classes = input.size(0), math.prod(weight.shape[:-1])
        rows = ctx.options.rows(batch, input.size(1), classes)
        return (slice(begin, begin + rows) for begin in range(0, batch, rows))

    @staticmethod
    @taeda.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias, target = ctx.saved_tensors
        dtype = ctx.options.sum_dtype(weight.dtype)
        by_input = []
        sums = [None if t is None else t.new_zeros(t.shape, dtype=dtype) for t in (weight, bias)]
        for rows in _InParts.parts(ctx, input, weight):
            given = [
                t if t is None else t.detach().requires_grad_() for t in (input[rows], weight, bias)
            ]
            with taeda.enable_grad():
                made = cross_entropy(_logits(*given), target[rows], **ctx.loss)  # type: ignore[arg-type]  # only the bias may be None
            wanted = [t for t in given if t is not None]
            first, *rest = taeda.autograd.grad(made, wanted, grad[rows] if grad.dim() else grad)
            by_input.append(first)
            # without a bias there is no part for it
            for total, part in zip(sums, rest, strict=False):
                if total is not None:
                    total += part
        totals = [None if t is None else t.to(weight.dtype) for t in sums]
        return taeda.cat(by_input), totals[0], totals[1], None, None, None
