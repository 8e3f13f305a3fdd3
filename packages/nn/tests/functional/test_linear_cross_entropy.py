"""Cross entropy of a linear layer: equal to both after each other, whole or in parts."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.autograd import gradcheck
from taeda.nn import functional as F

Options = nn.LinearCrossEntropyOptions
PARTS = [None, Options(batch_chunk_size=2), Options(batch_chunk_size=9), Options(),
         Options(chunking_method=None),
         Options(chunking_method="aspect_ratio:1", acc_policy="compact")]  # fmt: skip


def draw(*shape):
    g = taeda.Generator().manual_seed(sum(shape))
    return taeda.randn(*shape, generator=g, dtype=taeda.float64).requires_grad_()


LABELS = taeda.tensor([0, 3, -100, 2, 1])


@pytest.mark.parametrize("options", PARTS, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("extra", [{}, {"weight": taeda.tensor([1.0, 2, 3, 4]).double()},
    {"label_smoothing": 0.2}], ids=str)  # fmt: skip
@pytest.mark.parametrize("probabilities", [False, True])
def test_equals_both_after_each_other(options, reduction, extra, probabilities):
    x, w, b = draw(5, 3), draw(4, 3), draw(4)
    target = draw(5, 4).detach().softmax(1) if probabilities else LABELS
    expected = F.cross_entropy(F.linear(x, w, b), target, reduction=reduction, **extra)
    given = {"linear_bias": b, "reduction": reduction, "options": options, **extra}
    found = F.linear_cross_entropy(x, w, target, **given)
    taeda.testing.assert_close(found, expected)
    weights = taeda.linspace(1, 2, max(1, expected.numel())).double().reshape(expected.shape)
    for a, e in zip(
        taeda.autograd.grad((found * weights).sum(), (x, w, b)),
        taeda.autograd.grad((expected * weights).sum(), (x, w, b)),
        strict=True,
    ):
        taeda.testing.assert_close(a, e)


def test_in_parts_by_differences_and_more_than_once():
    options = Options(batch_chunk_size=2)
    given = draw(5, 3), draw(4, 3)
    assert gradcheck(lambda x, w: F.linear_cross_entropy(x, w, LABELS, options=options), given)
    loss = F.linear_cross_entropy(*given, LABELS, options=options)
    first = taeda.autograd.grad(loss, given, retain_graph=True)
    assert all(map(taeda.equal, first, taeda.autograd.grad(loss, given)))
    loss = F.linear_cross_entropy(*given, LABELS, options=options)
    by_x = taeda.autograd.grad(loss * draw(1)[0], given[0], create_graph=True)[0]
    with pytest.raises(RuntimeError, match="differentiate twice"):
        by_x.sum().backward()


def test_places():
    x, w, target = draw(2, 3), draw(4, 5, 6, 3), taeda.zeros(2, 5, 6, dtype=taeda.int64)
    logits = taeda.einsum("nf,cabf->ncab", x, w)
    expected = F.cross_entropy(logits, target)
    for options in PARTS[:2]:
        taeda.testing.assert_close(F.linear_cross_entropy(x, w, target, options=options), expected)
    alone = F.linear_cross_entropy(x[0], w[:, 0, 0], taeda.tensor(1))
    taeda.testing.assert_close(alone, F.cross_entropy(logits[0, :, 0, 0], taeda.tensor(1)))


def test_half_precision_sums_in_single():
    x, w = taeda.ones(3000, 1, dtype=taeda.bfloat16), taeda.zeros(2, 1, dtype=taeda.bfloat16)
    target = taeda.zeros(3000, dtype=taeda.int64)
    w.requires_grad_()
    options = {"batch_chunk_size": 1}
    loss = F.linear_cross_entropy(x, w, target, reduction="sum", options=Options(**options))
    assert taeda.autograd.grad(loss, w)[0].tolist() == [[-1504.0], [1504.0]]
    compact = Options(**options, acc_policy="compact")
    loss = F.linear_cross_entropy(x, w, target, reduction="sum", options=compact)
    assert taeda.autograd.grad(loss, w)[0].tolist() == [[-128.0], [128.0]]


W = taeda.ones(2, 3)
ONES = taeda.ones(2, dtype=taeda.int64)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.linear_cross_entropy(taeda.ones(2, 3, 3), W, ONES), RuntimeError,
            "dimensionality 1 or 2, got 3"),
        (lambda: F.linear_cross_entropy(W, taeda.ones(3), ONES), RuntimeError, "at least 2, got 1"),
        (lambda: F.linear_cross_entropy(W, taeda.ones(2, 4), ONES), RuntimeError, "got 3 and 4"),
        (lambda: F.linear_cross_entropy(W, W, taeda.ones(2, 2), ignore_index=0), RuntimeError,
            "contains probabilities"),
        (lambda: F.linear_cross_entropy(W[0], taeda.ones(2, 4, 3), ONES), RuntimeError,
            "requires batched input"),
        (lambda: F.linear_cross_entropy(W, W, ONES, linear_bias=taeda.ones(3)), RuntimeError,
            r"linear_bias shape \(2,\), got \(3,\)"),
        (lambda: F.linear_cross_entropy(W, W, ONES, weight=taeda.ones(3)), RuntimeError,
            r"weight shape to be \(2,\), got \(3,\)"),
        (lambda: F.linear_cross_entropy(W, W, ONES, label_smoothing=2), RuntimeError,
            r"range \[0, 1\], got 2"),
        (lambda: F.linear_cross_entropy(W, W, taeda.zeros(5, dtype=taeda.int64), options=Options()),
            ValueError, r"batch_size \(2\).*\(5\)"),
        (lambda: Options(batch_chunk_size=0), ValueError, "positive int or None, got 0"),
        (lambda: Options(chunking_method="aspect_ratio:0"), ValueError,
            "invalid chunking_method: 'aspect_ratio:0'"),
        (lambda: Options(acc_policy="x"), ValueError, "invalid acc_policy: 'x'"),
        (lambda: Options(acc_dtype=taeda.int64), ValueError, r"got taeda\.int64"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
