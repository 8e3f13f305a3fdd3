from __future__ import annotations

import taeda
from taeda import nn
from taeda.compiler._joint import dense, expanded, turned
from taeda.compiler._rehearsal import twin, walked


def test_a_twin_has_the_layout_and_memory_of_its_own():
    for tensor in (
        taeda.randn(3, 4).t(),
        taeda.randn(3, 1).expand(3, 4),
        nn.Parameter(taeda.ones(2)),
    ):
        made = twin(tensor)
        assert made.stride() == tensor.stride() and made.equal(tensor)
        assert type(made) is type(tensor) and made.requires_grad == tensor.requires_grad
        assert made.data_ptr() != tensor.data_ptr()


def test_random_gradients_are_the_same_each_time():
    x = taeda.randn(3, requires_grad=True)
    for make, strides in ((dense, (1,)), (expanded, (0,)), (turned, (2,))):
        one, two = walked([x * 2], [x], make), walked([x * 2], [x], make)
        assert one[0][0].equal(two[0][0]) and one[1][0].equal(2 * one[0][0])
        assert one[0][0].stride() == strides
