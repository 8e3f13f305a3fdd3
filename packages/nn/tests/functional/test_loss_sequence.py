"""ctc_loss against a sum over all alignments."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import taeda
from taeda.nn import functional as F


def likelihood(log_probs, target, blank=0):
    """Sum of the probabilities of all paths that collapse to the target."""
    steps, classes = log_probs.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        collapsed = [c for c, _ in itertools.groupby(path) if c != blank]
        if collapsed == list(target):
            total += math.exp(sum(log_probs[t, c] for t, c in enumerate(path)))
    return -math.log(total) if total else math.inf


def scores(*shape):
    taeda.manual_seed(0)
    return taeda.randn(*shape, dtype=taeda.float64, requires_grad=True)


TARGETS = [[1, 2], [1, 1], [2], []]


def test_every_alignment_counts():
    log = scores(4, 4, 3).log_softmax(-1)
    padded = taeda.tensor([[*t, 0, 0][:2] for t in TARGETS])
    lengths = [4, 4, 2, 3]
    losses = F.ctc_loss(log, padded, lengths, [len(t) for t in TARGETS], reduction="none")
    expected = [
        likelihood(log.detach().numpy()[:n, i], t)
        for i, (n, t) in enumerate(zip(lengths, TARGETS, strict=True))
    ]
    np.testing.assert_allclose(losses.detach().numpy(), expected)


def test_reductions_and_one_long_target():
    log = scores(4, 2, 3).log_softmax(-1)
    target, sizes = taeda.tensor([1, 2, 1]), taeda.tensor([2, 1])
    each = F.ctc_loss(log, target, [4, 4], sizes, reduction="none")
    assert taeda.allclose(F.ctc_loss(log, target, [4, 4], sizes), (each / sizes).mean())
    assert taeda.allclose(F.ctc_loss(log, target, [4, 4], sizes, reduction="sum"), each.sum())
    single = F.ctc_loss(log[:, 0], target[:2], taeda.tensor(4), taeda.tensor(2), reduction="none")
    assert taeda.allclose(single, each[0])


def test_gradients_through_the_softmax():
    raw = scores(5, 2, 3)
    target = taeda.tensor([[1, 2], [2, 0]])

    def loss(x):
        return F.ctc_loss(x.log_softmax(-1), target, [5, 4], [2, 1], reduction="sum")

    assert taeda.autograd.gradcheck(loss, (raw,))


def test_the_impossible_is_infinite_or_ignored():
    raw = scores(2, 1, 3)
    target = taeda.tensor([[1, 1]])
    assert F.ctc_loss(raw.log_softmax(-1), target, [2], [2]).item() == math.inf
    F.ctc_loss(raw.log_softmax(-1), target, [2], [2], zero_infinity=True).backward()
    assert raw.grad.abs().max().item() == 0


LOG = taeda.zeros(4, 2, 3)
TARGET = taeda.ones(2, 2, dtype=taeda.int64)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ((LOG, TARGET, [5, 4], [2, 2]), "at most 4, but got value 5"),
        ((LOG, TARGET, [4], [2, 2]), "input_lengths must be of size batch_size: got 1"),
        ((LOG, TARGET, [4, 4], [2, -1]), "target_lengths must be non-negative"),
        ((LOG, TARGET, [4, 4], [2, 3]), r"\(2, 3 or more\), but got \[2, 2\]"),
        ((LOG, TARGET[0], [4, 4], [2, 2]), "4 elements together, but got 2"),
        ((LOG, TARGET, [4, 4], [2, 2], 3), "blank must be in label range: got 3"),
        ((LOG, TARGET.double(), [4, 4], [2, 2]), "targets must be integral"),
        ((LOG[0, 0], TARGET, [4, 4], [2, 2]), r"got \[3\]"),
    ],
)
def test_refusals(given, text):
    with pytest.raises(RuntimeError, match=text):
        F.ctc_loss(*given)


@pytest.mark.parametrize("shape", [(0, 1, 3), (4, 0, 3)])
def test_no_probabilities_are_refused(shape):
    none = taeda.zeros(shape[1], dtype=taeda.int64)
    with pytest.raises(RuntimeError, match="must not be empty"):
        F.ctc_loss(taeda.zeros(shape), taeda.zeros(shape[1], 0, dtype=taeda.int64), none, none)


@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_samples_of_a_map_have_losses_and_gradients_of_their_own(reduction):
    raw = taeda.randn(3, 5, 2, 4, dtype=taeda.float64)
    target = taeda.tensor([[1, 2], [3, 1]])

    def loss(x):
        made = F.ctc_loss(x.log_softmax(-1), target, [5, 4], [2, 1], reduction=reduction)
        return made.sum()

    alone = taeda.stack([loss(x) for x in raw])
    taeda.testing.assert_close(taeda.func.vmap(loss)(raw), alone)
    slopes = taeda.stack([taeda.func.grad(loss)(x) for x in raw])
    taeda.testing.assert_close(taeda.func.vmap(taeda.func.grad(loss))(raw), slopes)
