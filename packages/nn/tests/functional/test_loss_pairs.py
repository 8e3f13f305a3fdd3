"""Losses of pairs and triplets."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

ONES = taeda.ones(4, 3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nn.functional.triplet_margin_loss(ONES, ONES, ONES, margin=0),
            ValueError,
            "got 0",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
