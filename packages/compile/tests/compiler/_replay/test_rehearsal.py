from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.compiler._replay.joint import dense, expanded, turned
from taeda.compiler._replay.rehearsal import twin, walked


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
        assert one[0][0].equal(two[0][0]) and one[1][0][0].equal(2 * one[0][0])
        assert one[0][0].stride() == strides


@pytest.mark.parametrize("shape", [(2, 1), (1, 3), (1, 1), (2, 1, 3)])
def test_random_gradients_of_one_number_beside_dimensions_of_one(shape):
    """expand gives a new dimension of one element the stride 1, so strides alone do not tell."""
    x = taeda.randn(shape, requires_grad=True)
    for make in (dense, expanded, turned):
        (given,), ((found,),) = walked([x * 2], [x], make)
        assert given.stride() == make(x.detach()).stride() and found.equal(2 * given)


def test_a_module_with_one_output_becomes_a_graph():
    fast = taeda.compile(nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)))
    for _ in range(3):
        fast(taeda.randn(4, 2)).sum().backward()
    assert taeda.compiler.explain(fast)(taeda.randn(4, 2)).graph_count == 1


@pytest.mark.parametrize("draws", [False, True])
def test_a_result_that_is_expanded(draws):
    """A gradient has a number for each place of it; of whatever layout, where the walk draws numbers."""
    layer = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5 if draws else 0.0))
    fast = taeda.compile(lambda x: layer(x).expand(4, 3))
    given = [taeda.randn(4, 3), taeda.randn(3, 4).t(), taeda.randn(4, 1).expand(4, 3)]
    for gradient in (given[0], *given):
        x, state = taeda.randn(1, 3), taeda.get_rng_state()
        fast(x).backward(gradient)
        found, layer[0].weight.grad = layer[0].weight.grad, None
        taeda.set_rng_state(state)
        layer(x).expand(4, 3).backward(gradient)
        assert found.equal(layer[0].weight.grad)
        layer[0].weight.grad = None
    assert fast.__taeda_compiled__.traces
