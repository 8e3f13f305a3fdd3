"""One of two functions."""

from __future__ import annotations

import taeda
from taeda import _higher_order_ops as ops
from taeda.func import vmap


def test_each_sample_has_a_predicate_of_its_own():
    x = taeda.tensor([[1.0, 1.0], [-1.0, 0.0]])
    found = vmap(lambda x: ops.cond(x.sum() > 1, taeda.sin, taeda.cos, (x,)))(x)
    assert found.equal(taeda.stack([x[0].sin(), x[1].cos()]))


def test_it_is_the_public_one():
    assert ops.cond is taeda.cond
