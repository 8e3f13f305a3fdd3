"""Connectionist temporal classification: the likelihood of a label sequence under all its alignments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.calls import casts_to_float32
from taeda._core_api.doors import asks, require_tensors
from taeda._core_api.operators import nn as _nn
from taeda.autograd import Function

from ._padding import pad
from ._reduction import code
from ._reduction import reduce as reduced

__all__ = ["ctc_loss"]


@asks
@casts_to_float32
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability that the alignments with `targets` have together.

    log_probs (T, N, C) or (T, C); targets (N, S), or all targets one after the other; `blank` is the class
    between labels. The mean divides each loss by its target's length first. An alignment that is
    impossible costs infinity, or 0 with `zero_infinity`. Gradients are those of a log-softmax's input.

    Args:
        log_probs: logarithms of probabilities, of shape (T, N, C) or (T, C)
        targets: the labels, integers but for blank: of shape (N, S), or all in one row
        input_lengths: the lengths of the inputs, each at most T: N integers
        target_lengths: the lengths of the targets: N integers
        blank: the class that stands for no label, from 0 to C - 1 (default: 0)
        reduction: 'none' for the loss of each element, 'mean' for their mean, 'sum' for their sum
            (default: 'mean')
        zero_infinity: whether an infinite loss, of a target too long for its input, and its
            gradient are 0 (default: False)

    >>> log_p = taeda.full((5, 1, 3), 1 / 3).log()
    >>> target = taeda.tensor([[1, 2]])
    >>> taeda.nn.functional.ctc_loss(log_p, target, input_lengths=[5], target_lengths=[2])
    tensor(0.9689)
    """
    require_tensors("ctc_loss", log_probs=log_probs, targets=targets)
    code(reduction)
    batched = log_probs.dim() == 3
    if log_probs.dim() not in (2, 3):
        raise RuntimeError(
            f"ctc_loss: log_probs must be (T, N, C) or (T, C), got {list(log_probs.shape)}"
        )
    if not log_probs.is_floating_point():
        raise RuntimeError(f"ctc_loss: log_probs must be floating point, got {log_probs.dtype}")
    lp = log_probs if batched else log_probs.unsqueeze(1)
    inputs, lengths = (_lengths(x, lp.device) for x in (input_lengths, target_lengths))
    _check(lp, inputs, lengths, blank)
    labels = _padded_labels(targets, lengths, lp)
    loss = _Likelihood.apply(lp, labels, inputs, lengths, blank)[0]
    if zero_infinity:
        loss = taeda.where(loss == math.inf, taeda.zeros_like(loss), loss)
    if reduction == "mean":
        return (loss / lengths.clamp_min(1).to(loss.dtype)).mean()
    return reduced(loss if batched else loss.squeeze(0), reduction)


def _lengths(given: Any, device: Any) -> Tensor:
    tensor = given if isinstance(given, Tensor) else taeda.tensor(list(given))
    if tensor.is_floating_point() or tensor.is_complex():
        raise RuntimeError(f"ctc_loss: lengths must be integral, got {tensor.dtype}")
    return tensor.to(device, taeda.int64).reshape(-1)


def _check(lp: Tensor, inputs: Tensor, lengths: Tensor, blank: int) -> None:
    steps, batch, classes = lp.shape
    if not lp.numel():
        raise RuntimeError(
            f"ctc_loss: log_probs tensor must not be empty, got shape {list(lp.shape)}"
        )
    if not 0 <= blank < classes:
        raise RuntimeError(f"blank must be in label range: got {blank} for {classes} classes")
    for name, given in (("input_lengths", inputs), ("target_lengths", lengths)):
        if given.numel() != batch:
            raise RuntimeError(
                f"{name} must be of size batch_size: got {given.numel()} for a batch of {batch}"
            )
        if batch and int(given.min()) < 0:
            raise RuntimeError(f"{name} must be non-negative, got {given.tolist()}")
    if batch and int(inputs.max()) > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {int(inputs.max())}"
        )


def _padded_labels(targets: Tensor, lengths: Tensor, lp: Tensor) -> Tensor:
    """Labels (N, longest), filled up with 0."""
    if targets.is_floating_point() or targets.is_complex():
        raise RuntimeError(f"ctc_loss: targets must be integral, got {targets.dtype}")
    batch = lp.size(1)
    longest = int(lengths.max()) if batch else 0
    if targets.dim() == 1 and not (batch == 1 and targets.numel() == longest):
        if targets.numel() != int(lengths.sum()):
            raise RuntimeError(
                f"Expected the targets to have {int(lengths.sum())} elements together, but got "
                f"{targets.numel()}"
            )
        rows = [pad(part, (0, longest - part.numel())) for part in targets.split(lengths.tolist())]
        padded = taeda.stack(rows) if rows else targets.reshape(0, 0)
    else:
        padded = targets.reshape(1, -1) if targets.dim() < 2 else targets
        if padded.dim() != 2 or padded.size(0) != batch or padded.size(1) < longest:
            raise RuntimeError(
                f"Expected targets of shape ({batch}, {longest} or more), but got {list(targets.shape)}"
            )
        padded = padded[:, :longest]
    return padded.to(lp.device, taeda.int64)


class _Likelihood(Function):
    """Losses (N) by the forward recursion over steps; the gradient by the backward one."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        lp: Tensor, labels: Tensor, inputs: Tensor, lengths: Tensor, blank: int
    ) -> tuple[Tensor, Tensor]:
        lattice = _Lattice(lp, labels, inputs, lengths, blank)
        alpha = lattice.forward()
        return lattice.loss(alpha), alpha

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        *tensors, ctx.blank = inputs
        loss, alpha = output
        ctx.mark_non_differentiable(alpha)
        ctx.save_for_backward(*tensors, alpha, loss)

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Any, ...]:
        lp, labels, inputs, lengths, alpha, loss = ctx.saved_tensors
        with taeda.no_grad():
            lattice = _Lattice(lp, labels, inputs, lengths, ctx.blank)
            both = alpha + lattice.backward()  # of every state at every step
            peak = both.max(2, keepdim=True)[0]
            peak = taeda.where(peak == -math.inf, taeda.zeros_like(peak), peak)
            share = taeda.zeros_like(lp).scatter_add_(
                2, lattice.states_of_steps(), (both - peak).exp()
            )
            path = (share.log() + peak + loss.reshape(1, -1, 1) - lp).exp()
            gradient = (lp.exp() - path) * grad.reshape(1, -1, 1)
            ignored = (loss == math.inf) & (grad == 0)  # else an impossible target gives nan
            used = lattice.within & ~ignored & (inputs > 0)
            gradient = taeda.where(used.unsqueeze(2), gradient, taeda.zeros_like(gradient))
        return gradient, None, None, None, None


class _Lattice:
    """States of a batch: blank, label, blank, label, ..., blank; moves go on by one, or skip a blank."""

    def __init__(
        self, lp: Tensor, labels: Tensor, inputs: Tensor, lengths: Tensor, blank: int
    ) -> None:
        self.lp, self.inputs, self.lengths = lp, inputs, lengths
        batch, longest = labels.shape
        self.count = 2 * longest + 1
        self.states = taeda.full((batch, self.count), blank, dtype=taeda.int64, device=lp.device)
        self.states[:, 1::2] = labels
        number = taeda.arange(self.count, device=lp.device)
        self.real = number <= 2 * lengths.unsqueeze(1)
        before = taeda.cat([self.states[:, :2], self.states[:, :-2]], 1)[:, : self.count]
        self.skips = (self.states != blank) & (self.states != before) & (number >= 2)
        self.ends = (number == 2 * lengths.unsqueeze(1)) | (number == 2 * lengths.unsqueeze(1) - 1)
        steps = taeda.arange(lp.size(0), device=lp.device).unsqueeze(1)
        self.within = steps < inputs
        self.emitted = lp.gather(2, self.states_of_steps())
        self.nothing = taeda.full((batch, self.count), -math.inf, dtype=lp.dtype, device=lp.device)

    def states_of_steps(self) -> Tensor:
        return self.states.unsqueeze(0).expand(self.lp.size(0), -1, -1)

    def _has_kernel(self) -> bool:
        return self.lp.device.type in ("cpu", "cuda") and self.lp.dtype in (
            taeda.float32,
            taeda.float64,
        )

    def _at_once(self, skips: Tensor, back: bool) -> Tensor:
        """All steps in one call. -inf after the end of a sequence, where nothing is looked at."""
        return _nn._alignments(self.emitted, skips, 2 * self.lengths + 1, self.inputs, back)

    def _moved(self, x: Tensor, by: int) -> Tensor:
        """Shifted along the states, with -inf coming in."""
        if abs(by) >= self.count:
            return self.nothing
        if by > 0:
            return taeda.cat([self.nothing[:, :by], x[:, :-by]], 1)
        return taeda.cat([x[:, -by:], self.nothing[:, by:]], 1)

    def forward(self) -> Tensor:
        """log-probability to be in a state after a step, along all ways from the start: (T, N, states)."""
        if self._has_kernel():
            return self._at_once(self.skips, back=False)
        first = taeda.arange(self.count, device=self.lp.device) < 2
        alpha = self.nothing
        rows = []
        for step, emitted in enumerate(self.emitted):
            if step == 0:
                reach = taeda.where(first, taeda.zeros_like(alpha), self.nothing)
            else:
                skipped = taeda.where(self.skips, self._moved(alpha, 2), self.nothing)
                reach = taeda.stack([alpha, self._moved(alpha, 1), skipped]).logsumexp(0)
            alpha = taeda.where(self.real, reach + emitted, self.nothing)
            rows.append(alpha)
        return taeda.stack(rows) if rows else self.emitted

    def backward(self) -> Tensor:
        """The same from a state to the end."""
        if self._has_kernel():
            return self._at_once(self._skips_to(), back=True)
        beta = self.nothing
        rows: list[Tensor] = []
        allowed = self._skips_to()
        for step in reversed(range(self.lp.size(0))):
            skipped = taeda.where(allowed, self._moved(beta, -2), self.nothing)
            reach = taeda.stack([beta, self._moved(beta, -1), skipped]).logsumexp(0)
            last = (self.inputs == step + 1).unsqueeze(1)
            start = taeda.where(self.ends, taeda.zeros_like(beta), self.nothing)
            reach = taeda.where(last, start, reach) + self.emitted[step]
            beta = taeda.where(self.within[step].unsqueeze(1), reach, self.nothing)
            rows.append(beta)
        return taeda.stack(rows[::-1]) if rows else self.emitted

    def _skips_to(self) -> Tensor:
        """May a state skip to the one two further on?"""
        nowhere = taeda.zeros_like(self.skips[:, :2])
        return taeda.cat([self.skips[:, 2:], nowhere], 1)[:, : self.count]

    def loss(self, alpha: Tensor) -> Tensor:
        """Losses of the batch, from the last step of each sample."""
        if not alpha.size(0):
            alpha = self.nothing.unsqueeze(0)
        index = (self.inputs - 1).clamp_min(0).reshape(1, -1, 1).expand(1, -1, self.count)
        last = alpha.gather(0, index).squeeze(0)
        loss = -taeda.where(self.ends, last, self.nothing).logsumexp(1)
        empty = taeda.where(
            self.lengths == 0, taeda.zeros_like(loss), taeda.full_like(loss, math.inf)
        )
        return taeda.where(self.inputs == 0, empty, loss)
