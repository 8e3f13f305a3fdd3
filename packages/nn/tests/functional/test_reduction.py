"""How losses of single elements become one result, by name, by number and by the flags of former times."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F
from taeda.nn.functional import _reduction


def test_every_reduction_has_a_number():
    assert [_reduction.code(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.raises(ValueError, match="most is not a valid value for reduction"):
        _reduction.code("most")


@pytest.mark.parametrize(
    ("size_average", "reduce", "wanted"),
    [(None, False, "none"), (False, False, "none"), (True, False, "none"), (False, None, "sum"),
     (False, True, "sum"), (True, None, "mean"), (True, True, "mean"), (None, True, "mean")],
)  # fmt: skip
def test_flags_of_former_times(size_average, reduce, wanted):
    with pytest.warns(UserWarning, match=f"reduction='{wanted}'"):
        assert _reduction.legacy(size_average, reduce) == wanted
    with pytest.warns(UserWarning, match=f"reduction='{wanted}'"):
        assert _reduction.choose(size_average, reduce, "sum") == wanted


def test_without_flags_the_word_counts():
    assert _reduction.choose(None, None, "sum") == "sum"
    with pytest.raises(ValueError, match="batchmean is not a valid"):
        _reduction.choose(None, None, "batchmean")


@pytest.mark.parametrize(("name", "wanted"), [("mean", 2), ("sum", 6), ("none", [1, 2, 3])])
def test_a_reduction_acts(name, wanted):
    assert _reduction.reduce(taeda.tensor([1.0, 2.0, 3.0]), name).tolist() == wanted


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.soft_margin_loss])
def test_losses_obey_the_flags(loss):
    x, y = taeda.tensor([1.0, -2.0]), taeda.tensor([0.5, 1.0])
    with pytest.warns(UserWarning, match="reduction='sum'"):
        made = loss(x, y, size_average=False)
    assert taeda.equal(made, loss(x, y, reduction="sum"))


MANY = 70_000  # more than the largest float16
HALF = taeda.float16
CLASSES = taeda.arange(MANY) % 2
SIGNS = (CLASSES * 2 - 1).to(HALF)
SHARES = (taeda.arange(MANY) % 7 / 8 + 0.0625).to(HALF)
#: losses of one number each
MEANS = {
    "mse": lambda x: F.mse_loss(x, SHARES), "l1": lambda x: F.l1_loss(x, SHARES),
    "smooth_l1": lambda x: F.smooth_l1_loss(x, SHARES), "huber": lambda x: F.huber_loss(x, SHARES),
    "bce": lambda x: F.binary_cross_entropy(x, SHARES),
    "bce with logits": lambda x: F.binary_cross_entropy_with_logits(x, SHARES),
    "soft_margin": lambda x: F.soft_margin_loss(x, SIGNS),
    "poisson_nll": lambda x: F.poisson_nll_loss(x, SHARES),
    "gaussian_nll": lambda x: F.gaussian_nll_loss(x, SHARES, SHARES),
    "margin_ranking": lambda x: F.margin_ranking_loss(x, SHARES, SIGNS, margin=3.0),
    "hinge_embedding": lambda x: F.hinge_embedding_loss(x, SIGNS), "mean": lambda x: x.mean(),
}  # fmt: skip
#: losses of rows with two classes each
ROWS = {
    "cross_entropy": lambda x: F.cross_entropy(x, CLASSES),
    "cross_entropy, weights": lambda x: F.cross_entropy(x, CLASSES, taeda.tensor([1.0, 3.0], dtype=HALF)),
    "cross_entropy, smoothing": lambda x: F.cross_entropy(x, CLASSES, label_smoothing=0.1),
    "nll": lambda x: F.nll_loss(x, CLASSES), "multi_margin": lambda x: F.multi_margin_loss(x, CLASSES),
    "multi_margin, p": lambda x: F.multi_margin_loss(x, CLASSES, p=2),
    "multilabel_soft_margin": lambda x: F.multilabel_soft_margin_loss(x, x.detach().round()),
    "cosine_embedding": lambda x: F.cosine_embedding_loss(x, x.detach().flip(1), SIGNS),
    "triplet_margin": lambda x: F.triplet_margin_loss(x, x.detach() + 1, x.detach() - 1),
}  # fmt: skip


@pytest.mark.parametrize("name", [*MEANS, *ROWS])
def test_means_over_more_than_float16_counts_have_their_gradient(name):
    """A count in 16 bits is infinite, and everything by it 0."""
    whole = name in MEANS
    size = (MANY,) if whole else (MANY, 2)
    numbers = (taeda.arange(MANY * (2 - whole)) % 13 / 16 + 0.0625).to(HALF).reshape(size)
    loss = (MEANS if whole else ROWS)[name]
    short, wide = numbers.clone().requires_grad_(), numbers.double().requires_grad_()
    loss(short).backward()
    widely(loss, wide).backward()
    ours, theirs = short.grad.double().abs().sum(), wide.grad.abs().sum()
    assert float(ours) == pytest.approx(float(theirs), rel=0.05)
    assert float(theirs) > 0


def widely(loss, x):
    """The loss in float64, with its float16 constants as they are."""
    kept = {name: globals()[name] for name in ("SIGNS", "SHARES", "HALF")}
    globals().update(SIGNS=SIGNS.double(), SHARES=SHARES.double(), HALF=taeda.float64)
    try:
        return loss(x)
    finally:
        globals().update(kept)
