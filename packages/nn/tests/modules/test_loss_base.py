"""What all losses share: the reduction, its former flags, and weights."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


def test_flags_of_former_times():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.MSELoss(reduce=False).reduction == "none"


ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MSELoss(reduction="most")(ONES, ONES), ValueError, "most is not a valid value"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
