"""One of two functions."""

from __future__ import annotations

import pytest

import taeda
from taeda import _higher_order_ops as ops
from taeda.func import vmap


def test_a_batched_predicate_is_refused_in_words():
    with pytest.raises(RuntimeError, match=r"vmap.*taeda\.where"):
        vmap(lambda x: ops.cond(x.sum() > 1, taeda.sin, taeda.cos, (x,)))(taeda.ones(2, 2))


def test_it_is_the_public_one():
    assert ops.cond is taeda.cond
