"""Functions of positions as masks."""

from __future__ import annotations

import pytest
from attention_inputs import causal, near

import taeda
from taeda.nn.attention import flex_attention as flex


def test_joined_masks_and_masks_of_score_functions():
    both = flex.create_mask(flex.and_masks(causal, near), None, None, 3, 3)[0, 0]
    either = flex.create_mask(flex.or_masks(causal, near), None, None, 3, 3)[0, 0]
    assert both.int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert either.int().tolist() == [[1, 1, 0], [1, 1, 1], [1, 1, 1]]
    assert flex.create_mask(flex.noop_mask, 2, 3, 1, 1).shape == (2, 3, 1, 1)
    assert not flex.create_mask(flex.or_masks(), None, None, 1, 1).any()

    def hides(score, b, h, i, j):
        return taeda.where(i == j, score, -taeda.inf)

    assert flex.create_mask(hides, None, None, 2, 2)[0, 0].int().tolist() == [[1, 0], [0, 1]]


REFUSED = {
    "no functions": (lambda: flex.and_masks(3), RuntimeError, r"callable mask_mods: \(3,\)"),
    "no function": (lambda: flex.create_mask(3, None, None, 2, 2), TypeError, "got int"),
    "arguments": (lambda: flex.create_mask(lambda a: a, None, None, 2, 2), ValueError, "this one takes 1"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "error", "fact"), REFUSED.values(), ids=REFUSED)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call()
