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
