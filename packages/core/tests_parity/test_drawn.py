"""Families of expressions drawn at random equal torch's: indices, types, dims, casts, sums of products."""

from __future__ import annotations

import random

import pytest
from both import FULL
from by_path import load

torch = pytest.importorskip("torch")
from parity import compare  # noqa: E402 - needs torch

drawn = load("packages/core/tests_parity/drawn.py")
GROUPS, EACH = (40, 250) if FULL else (4, 250)


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("family", drawn.FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_family(family, group):
    """Layout of results aside. A failure names its seed:
    `drawn.FAMILIES[family](random.Random(seed))` draws it again.
    """
    for seed in range(group * EACH, (group + 1) * EACH):
        text, tensors, gradient = drawn.FAMILIES[family](random.Random(seed))
        try:
            compare(text, tensors, gradient=gradient, strides=False)
        except AssertionError as error:
            facts = {n: (x.dtype, tuple(x.shape), x.stride()) for n, x in tensors.items()}
            raise AssertionError(f"seed {seed}: {error}\n{facts}") from None
